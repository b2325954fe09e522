// Who is cabled to whom, by arithmetic: ids, cables, ways and names of a preset's fabric.
//
// Nothing is stored per path or per cable, so a pod of 15,360 GPUs costs no more than a toy.
// RNIC r of every host in a segment goes to the segment's ToR (or pair of ToRs) of rail r, so two
// RNICs of one rail in one segment are one switch apart.  ToRs belong to a group (fabric_options.h)
// and have one cable to each aggregation switch of their group.
// Invariants: 1. ids are dense and ordered (segment, then host or rail, then RNIC or plane);
// switches: ToRs, aggregation switches by group, core switches; 2. cable c carries the directed
// links 2c (up, away from the hosts) and 2c + 1 (down); 3. access cables come first, those of port
// 0 share their index with their RNIC, then come ToR-aggregation and aggregation-core cables.
#pragma once

#include "model/fabric/fabric_options.h"
#include "sim/base/strong_id.h"
#include "sim/base/units.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bonescan {

using HostId = StrongId<struct HostTag>;
using RnicId = StrongId<struct RnicTag>;
using SwitchId = StrongId<struct SwitchTag>;
using CableId = StrongId<struct CableTag>;
using LinkId = StrongId<struct LinkTag>;

/// The directed links of one way, at most six in three tiers; none if there is no way.
struct LinkPath {
  std::array<LinkId, 6> links;
  std::uint32_t count = 0;

  std::span<const LinkId> span() const { return {links.data(), count}; }
};

/// Which of several ways: what bonds and switches choose by hash.
struct WayChoice {
  std::uint32_t aggregation = 0;  ///< within the group of the source's ToR
  std::uint32_t core = 0;         ///< within the group of that aggregation switch
  std::uint32_t source_port = 0;  ///< of the source's bond
  std::uint32_t target_port = 0;  ///< of the target's bond
};

enum class CableTier : std::uint8_t {
  kAccess,
  kFabric,
  kCore
};

class Fabric final {
 public:
  /// REQUIRES: every count that the preset uses is at least 1, cores are a multiple of aggregation
  /// switches, and the product of hosts, rails and ports fits in 30 bits.
  explicit Fabric(const FabricOptions& options);

  const FabricOptions& options() const { return options_; }

  std::uint32_t hosts_in_segment() const {
    return options_.hosts_per_segment + options_.spare_hosts_per_segment;
  }

  std::uint32_t host_count() const { return options_.segments * hosts_in_segment(); }

  std::uint32_t rnic_count() const { return host_count() * options_.rails; }

  /// Ports of an RNIC.
  std::uint32_t ports() const { return ports_; }

  /// ToRs per rail and segment.
  std::uint32_t planes() const { return planes_; }

  std::uint32_t tor_count() const { return tor_count_; }

  /// Groups of ToRs that share aggregation switches.
  std::uint32_t group_count() const { return groups_; }

  /// graph: all switches that are no ToRs.
  std::uint32_t aggregation_count() const { return aggregation_count_; }

  std::uint32_t core_count() const { return cores_; }

  /// Core switches that one aggregation switch is cabled to.
  std::uint32_t cores_per_aggregation() const { return cores_ / options_.aggregation_switches; }

  std::uint32_t switch_count() const { return tor_count() + aggregation_count() + cores_; }

  std::uint32_t access_count() const { return rnic_count() * ports_; }

  std::uint32_t cable_count() const { return cable_count_; }

  std::uint32_t link_count() const { return 2 * cable_count(); }

  // Hosts and RNICs.
  HostId host(std::uint32_t segment, std::uint32_t index) const {
    return HostId(segment * hosts_in_segment() + index);
  }

  RnicId rnic(HostId host, std::uint32_t rail) const {
    return RnicId(host.index() * options_.rails + rail);
  }

  HostId host_of(RnicId rnic) const { return hosts_[rnic]; }

  std::uint32_t rail_of(RnicId rnic) const { return rnic.index() % options_.rails; }

  std::uint32_t segment_of(HostId host) const { return host.index() / hosts_in_segment(); }

  std::uint32_t index_in_segment(HostId host) const { return host.index() % hosts_in_segment(); }

  bool is_spare(HostId host) const { return index_in_segment(host) >= options_.hosts_per_segment; }

  // Switches.
  SwitchId tor(std::uint32_t segment, std::uint32_t rail, std::uint32_t plane = 0) const {
    return SwitchId((segment * options_.rails + rail) * planes_ + plane);
  }

  /// Of port 0.
  SwitchId tor_of(RnicId rnic) const { return tors_[rnic]; }

  SwitchId tor_of(RnicId rnic, std::uint32_t port) const {
    if (is_graph()) [[unlikely]] {
      return SwitchId(options_.graph.access_tors[access_cable(rnic, port).index()]);
    }
    return planes_ == 1 ? tors_[rnic] : SwitchId(tors_[rnic].index() + port);
  }

  /// Counting through all groups.
  SwitchId aggregation(std::uint32_t index) const { return SwitchId(tor_count() + index); }

  SwitchId aggregation(std::uint32_t group, std::uint32_t index) const {
    return aggregation(group * options_.aggregation_switches + index);
  }

  SwitchId core(std::uint32_t index) const {
    return SwitchId(tor_count() + aggregation_count() + index);
  }

  bool is_tor(SwitchId id) const { return id.index() < tor_count(); }

  bool is_core(SwitchId id) const { return id.index() >= tor_count() + aggregation_count(); }

  std::uint32_t segment_of_tor(SwitchId tor) const {
    return tor.index() / (options_.rails * planes_);
  }

  std::uint32_t rail_of_tor(SwitchId tor) const { return tor.index() / planes_ % options_.rails; }

  std::uint32_t plane_of_tor(SwitchId tor) const { return tor.index() % planes_; }

  /// Are there tables of cables instead of rules?  Then nothing that counts segments, rails or
  /// groups of switches means anything: tor(), aggregation(group, index), fabric_cable(), path()
  /// and so on.
  bool is_graph() const { return options_.preset == FabricPreset::kGraph; }

  /// REQUIRES: a ToR or an aggregation switch.
  std::uint32_t group_of(SwitchId id) const;

  /// Is there a way between two ToRs?
  bool connected(SwitchId from, SwitchId to) const {
    return from == to || groups_ == 1 || cores_ > 0 || group_of(from) == group_of(to);
  }

  /// Is there a way between two RNICs, with everything in order?
  bool connected(RnicId source, RnicId target) const {
    return connected(tor_of(source), tor_of(target));
  }

  // Cables.
  CableId access_cable(RnicId rnic, std::uint32_t port = 0) const {
    return CableId(rnic.index() + port * rnic_count());
  }

  /// `aggregation` counts within the ToR's group.
  CableId fabric_cable(SwitchId tor, std::uint32_t aggregation) const {
    return CableId(access_count() + tor.index() * options_.aggregation_switches + aggregation);
  }

  /// `core` counts within the group of core switches of that aggregation switch.
  CableId core_cable(SwitchId aggregation, std::uint32_t core) const {
    return CableId(first_core_cable_ +
                   (aggregation.index() - tor_count()) * cores_per_aggregation() + core);
  }

  CableTier tier_of(CableId cable) const {
    if (cable.index() < access_count()) {
      return CableTier::kAccess;
    }
    return cable.index() < first_core_cable_ ? CableTier::kFabric : CableTier::kCore;
  }

  bool is_access(CableId cable) const { return cable.index() < access_count(); }

  /// REQUIRES: an access cable.
  RnicId rnic_end(CableId cable) const { return RnicId(cable.index() % rnic_count()); }

  std::uint32_t port_of(CableId cable) const { return cable.index() / rnic_count(); }

  /// ToR-aggregation cables, or graph: all cables between switches.
  std::uint32_t trunk_count() const { return first_core_cable_ - access_count(); }

  CableId trunk(std::uint32_t index) const { return CableId(access_count() + index); }

  /// REQUIRES: a ToR-aggregation cable.
  SwitchId tor_end(CableId cable) const {
    return SwitchId((cable.index() - access_count()) / options_.aggregation_switches);
  }

  /// Counting within the ToR's group.
  std::uint32_t aggregation_end(CableId cable) const {
    return (cable.index() - access_count()) % options_.aggregation_switches;
  }

  /// The switch at the lower end.  REQUIRES: no access cable.
  SwitchId lower_switch(CableId cable) const;

  /// The switch at the upper end of any cable.
  SwitchId upper_switch(CableId cable) const;

  static LinkId up(CableId cable) { return LinkId(2 * cable.index()); }

  static LinkId down(CableId cable) { return LinkId(2 * cable.index() + 1); }

  static CableId cable_of(LinkId link) { return CableId(link.index() / 2); }

  static bool is_up(LinkId link) { return link.index() % 2 == 0; }

  /// One way from `source` to `target`.  Choices that do not arise are not looked at.
  /// REQUIRES: no graph (Router knows its ways)
  /// ENSURES: no links if the two are not connected
  LinkPath path(RnicId source, RnicId target, const WayChoice& choice) const;

  // Capacity.
  const TierOptions& tier(CableTier tier) const;
  BitsPerSecond rate(CableId cable) const;

  /// Capacity of a ToR towards its active hosts over that towards the aggregation layer.
  double tor_oversubscription() const;
  /// Capacity of an aggregation switch towards ToRs over that towards core; 0 without core.
  double aggregation_oversubscription() const;

  // Names as an operator writes them (component_ref.h).
  std::string host_name(HostId host) const;                      ///< "host-2.05"
  std::string rnic_name(RnicId rnic) const;                      ///< "host-2.05/rnic-3"
  std::string port_name(RnicId rnic, std::uint32_t port) const;  ///< "host-2.05/rnic-3/port-1"
  std::string switch_name(SwitchId id) const;                    ///< "tor-1.3", "agg-2"
  std::string cable_name(CableId cable) const;  ///< "link(host-2.05/rnic-3, tor-2.3)"

  /// Are aggregation switches named by group and index ("agg-1.3")?
  bool names_groups() const { return options_.preset != FabricPreset::kRailOptimized; }

 private:
  void count_cables();

  FabricOptions options_;
  std::uint32_t planes_ = 1;
  std::uint32_t ports_ = 1;
  std::uint32_t groups_ = 1;
  std::uint32_t cores_ = 0;
  std::uint32_t tor_count_ = 0;
  std::uint32_t aggregation_count_ = 0;
  std::uint32_t first_core_cable_ = 0;
  std::uint32_t cable_count_ = 0;
  // Quotients of the RNIC's id that every probe asks for; a division costs more than all the rest.
  IdVector<RnicId, HostId> hosts_;
  IdVector<RnicId, SwitchId> tors_;
};

}  // namespace bonescan
