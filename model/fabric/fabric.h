// A two-tier rail-optimized fabric: one ToR per rail in every segment, one aggregation layer.
//
// RNIC r of every host in a segment goes to the segment's ToR of rail r, so two RNICs of one rail
// in one segment are one switch apart, and every ToR has one cable to each aggregation switch.
// Routing is arithmetic: nothing is stored per path, and a path costs a hash and a few additions.
// Invariants: 1. ids are dense and ordered (segment, then host or rail, then RNIC);
// 2. cable c carries the directed links 2c (up, towards the aggregation layer) and 2c + 1 (down);
// 3. access cables come first and share their index with their RNIC.
#pragma once

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

struct FabricOptions {
  std::uint32_t segments = 4;
  std::uint32_t hosts_per_segment = 16;
  std::uint32_t rails = 8;
  std::uint32_t aggregation_switches = 8;
  BitsPerSecond link_rate{400'000'000'000};
  /// From a fabric port going down until both ends' ECMP groups avoid it. @source ours
  Duration convergence = std::chrono::milliseconds(800);
};

/// The directed links of one way, at most four in two tiers.
struct LinkPath {
  std::array<LinkId, 4> links;
  std::uint32_t count = 0;

  std::span<const LinkId> span() const { return {links.data(), count}; }
};

class Fabric final {
 public:
  /// REQUIRES: every count is at least 1 and the product of hosts and rails fits in 31 bits.
  explicit Fabric(const FabricOptions& options);

  const FabricOptions& options() const { return options_; }

  std::uint32_t host_count() const { return options_.segments * options_.hosts_per_segment; }

  std::uint32_t rnic_count() const { return host_count() * options_.rails; }

  std::uint32_t tor_count() const { return options_.segments * options_.rails; }

  std::uint32_t switch_count() const { return tor_count() + options_.aggregation_switches; }

  std::uint32_t cable_count() const {
    return rnic_count() + tor_count() * options_.aggregation_switches;
  }

  std::uint32_t link_count() const { return 2 * cable_count(); }

  HostId host(std::uint32_t segment, std::uint32_t index) const {
    return HostId(segment * options_.hosts_per_segment + index);
  }

  RnicId rnic(HostId host, std::uint32_t rail) const {
    return RnicId(host.index() * options_.rails + rail);
  }

  HostId host_of(RnicId rnic) const { return hosts_[rnic]; }

  std::uint32_t rail_of(RnicId rnic) const { return rnic.index() % options_.rails; }

  std::uint32_t segment_of(HostId host) const { return host.index() / options_.hosts_per_segment; }

  SwitchId tor(std::uint32_t segment, std::uint32_t rail) const {
    return SwitchId(segment * options_.rails + rail);
  }

  SwitchId tor_of(RnicId rnic) const { return tors_[rnic]; }

  SwitchId aggregation(std::uint32_t index) const { return SwitchId(tor_count() + index); }

  bool is_tor(SwitchId id) const { return id.index() < tor_count(); }

  CableId access_cable(RnicId rnic) const { return CableId(rnic.index()); }

  CableId fabric_cable(SwitchId tor, std::uint32_t aggregation) const {
    return CableId(rnic_count() + tor.index() * options_.aggregation_switches + aggregation);
  }

  bool is_access(CableId cable) const { return cable.index() < rnic_count(); }

  /// REQUIRES: a fabric cable.
  SwitchId tor_end(CableId cable) const {
    return SwitchId((cable.index() - rnic_count()) / options_.aggregation_switches);
  }

  std::uint32_t aggregation_end(CableId cable) const {
    return (cable.index() - rnic_count()) % options_.aggregation_switches;
  }

  static LinkId up(CableId cable) { return LinkId(2 * cable.index()); }

  static LinkId down(CableId cable) { return LinkId(2 * cable.index() + 1); }

  static CableId cable_of(LinkId link) { return CableId(link.index() / 2); }

  static bool is_up(LinkId link) { return link.index() % 2 == 0; }

  /// One way from `source` to `target`; `aggregation` is used only if their ToRs differ.
  LinkPath path(RnicId source, RnicId target, std::uint32_t aggregation) const;

  // Names as an operator writes them.
  std::string host_name(HostId host) const;     ///< "host-2.05"
  std::string rnic_name(RnicId rnic) const;     ///< "host-2.05/rnic-3"
  std::string switch_name(SwitchId id) const;   ///< "tor-1.3", "agg-2"
  std::string cable_name(CableId cable) const;  ///< "link(host-2.05/rnic-3, tor-2.3)"

 private:
  FabricOptions options_;
  // Quotients of the RNIC's id that every probe asks for; a division costs more than all the rest.
  IdVector<RnicId, HostId> hosts_;
  IdVector<RnicId, SwitchId> tors_;
};

}  // namespace bonescan
