// The way that a flow takes now: what bonds and switches choose, given what they avoid.
//
// Routing is arithmetic (but for graphs, see graph_routes.h).  A ToR spreads over the aggregation
// switches of its group, an aggregation switch of three tiers over its core switches, a bonded host
// over its ports; each by a hash of its own.  A choice is made among members with a way on, which
// is known once the fabric has converged (LinkTable::set_excluded); if none is left, packets go
// where they always went, and die. In two planes a port of the source decides for the plane, and so
// for the port of the target: the members are the planes in which both ends' access links are used.
// Cost: with nothing excluded a hash per choice; else a scan of the groups on the way.
// Thread-compatible.
#pragma once

#include "model/fabric/ecmp_hash.h"
#include "model/fabric/fabric.h"
#include "model/fabric/graph_routes.h"
#include "model/fabric/link_table.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan {

class Router final {
 public:
  /// Draws every salt from `seed`.  REQUIRES: both outlive this.
  Router(const Fabric& fabric, const LinkTable& links, std::uint64_t seed);

  const SwitchHash& hash(SwitchId id) const { return hashes_[id]; }

  void set_hash(SwitchId id, const SwitchHash& hash) {
    hashes_[id] = hash;
    ++version_;
  }

  /// One bit of the switch's hash is used, whatever its algorithm.  Nested.
  void begin_one_bit(SwitchId id);

  /// REQUIRES: it has begun.
  void end_one_bit(SwitchId id);

  /// Changes whenever a flow may have got another way, but for what LinkTable::version() says.
  std::uint64_t version() const { return version_; }

  /// One way; no links if there is none by design.  `flow` is flow_hash() of the outer five-tuple.
  LinkPath path(RnicId source, RnicId target, std::uint64_t flow) const {
    if (!cabled_as_.empty()) [[unlikely]] {
      return planned_path(cabled_as_[source], cabled_as_[target], flow);
    }
    return planned_path(source, target, flow);
  }

  /// path() if every cable were where it belongs.
  LinkPath planned_path(RnicId source, RnicId target, std::uint64_t flow) const;

  /// The cables of two RNICs change their RNICs.  A cable keeps its name, which is that of the RNIC
  /// it belongs to.  Swaps that meet act in the order in which they began.
  void swap_cables(RnicId one, RnicId other);

  /// REQUIRES: they were swapped.
  void unswap_cables(RnicId one, RnicId other);

  /// Whose cables the RNIC has.
  RnicId cabled_as(RnicId rnic) const { return cabled_as_.empty() ? rnic : cabled_as_[rnic]; }

  /// The aggregation switch, within the group of `from`, that a flow takes between two ToRs.
  /// REQUIRES: different, connected ToRs.
  std::uint32_t aggregation_for(SwitchId from, SwitchId to, std::uint64_t flow) const;

 private:
  LinkPath graph_path(RnicId source, RnicId target, std::uint64_t flow) const;
  WayChoice choose(RnicId source, RnicId target, std::uint64_t flow) const;
  void choose_ports(RnicId source, RnicId target, std::uint64_t flow, WayChoice& way) const;
  std::uint32_t core_for(SwitchId from,
                         SwitchId to,
                         std::uint32_t aggregation,
                         std::uint64_t flow) const;
  bool core_usable(SwitchId near, SwitchId far, std::uint32_t core) const;
  bool aggregation_usable(SwitchId from, SwitchId to, std::uint32_t aggregation) const;

  const Fabric* fabric_;
  const LinkTable* links_;
  IdVector<SwitchId, SwitchHash> hashes_;
  IdVector<RnicId, SwitchHash> bond_hashes_;  ///< empty without bonds
  struct OneBit {
    SwitchId id;
    HashAlgorithm before = HashAlgorithm::kMix;
    std::uint32_t count = 0;
  };

  void set_cables();

  std::vector<OneBit> one_bit_;                   ///< few
  std::vector<std::pair<RnicId, RnicId>> swaps_;  ///< few
  IdVector<RnicId, RnicId> cabled_as_;            ///< empty: all are where they belong
  std::optional<GraphRoutes> graph_;              ///< of a graph
  std::uint64_t version_ = 0;
};

}  // namespace bonescan
