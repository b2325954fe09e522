// The flow tables of the RNICs' eswitches: who gets an entry, and in which order entries match.
//
// An eswitch holds a number of entries.  A flow that is installed while the table is full stays in
// software, where Open vSwitch leaves it: the newest containers are slow, and stay so for as long
// as their packets come.  With offload-rebalance busier software flows take the place of idler
// offloaded ones.
//
// Flows of different pairs never look at each other (flow_store.h), so entries are dealt out ahead:
// at every deal of an RNIC that is limited, what is free is handed to the flows that would need an
// entry, never-used ones first, then those used last.  A flow with a ticket is offloaded when it is
// installed; one without stays in software until it is installed again.  Dealing ahead is ours:
// Open vSwitch asks the driver at every install, and is refused.
//
// Order: tc searches rules by preference.  If a wider rule that only software can serve comes
// before a flow's own, the flow's packets leave the eswitch although its entry is there: a constant
// extra lookup (Table 1, type 16; the mechanism is quoted, that a share of the flows is hit and the
// cost are ours).  An operator sees the entry, and the rule before it.
//
// Invariants: 1. offloaded flows of an RNIC never exceed its entries; 2. only events deal.
// Thread-compatible.
#pragma once

#include "model/overlay/flow_store.h"
#include "model/overlay/overlay_options.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace bonescan {

class Eswitch final {
 public:
  Eswitch(const Fabric& fabric, const EswitchOptions& options, std::uint64_t seed);

  /// How often a limited RNIC deals its free entries.  Open vSwitch rebalances every 3 s.
  static constexpr Duration kDealPeriod = std::chrono::seconds(3);

  bool limited(RnicId rnic) const { return refuses(rnic) || entries(rnic) > 0; }

  /// Entries of a limited RNIC; 0 of one that is not: as many as are asked for.
  std::uint32_t entries(RnicId rnic) const {
    if (refuses(rnic)) {
      return 0;
    }
    return own_entries_[rnic] > 0 ? own_entries_[rnic] : options_.entries;
  }

  /// Encapsulation cannot be offloaded: the RNIC takes no entry at all.
  bool refuses(RnicId rnic) const { return refusals_[rnic] > 0; }

  /// Is the flow's own entry at `at` hidden behind a wider rule of software?
  bool shadows(RnicId at, RnicId source, RnicId target) const {
    return any_shadow_ && shadow_shares_[at] > 0.0 && is_shadowed(at, source, target);
  }

  /// Lookups at both ends, of both ways, that shadows add to a round trip.
  std::uint32_t shadowed_lookups(RnicId source, RnicId target) const {
    return any_shadow_ ? count_shadows(source, target) : 0;
  }

  /// Open vSwitch would put a flow into the eswitch at all.
  bool offloads() const { return options_.tc_policy != TcPolicy::kSkipHw; }

  /// Hands tickets to the flows of a new pair.
  void admit(FlowQuad& quad);

  /// Of the entries and the order of every RNIC; who has a ticket is left out.
  std::uint64_t fingerprint() const;

  // Commands.
  /// 0: back to those of the options.
  void set_entries(RnicId rnic, std::uint32_t entries) { own_entries_[rnic] = entries; }
  void set_shadow(RnicId rnic, double share);
  void refuse(RnicId rnic) { ++refusals_[rnic]; }
  /// REQUIRES: refuses.
  void accept(RnicId rnic) { --refusals_[rnic]; }

  /// Deals the free entries of a limited RNIC.  REQUIRES: its quads are settled to `now`.
  void deal(RnicId rnic, FlowStore& store, const FlowClocks& clocks, Time now);

  /// Every flow may be offloaded again: the RNIC is no longer limited.
  void open(RnicId rnic, FlowStore& store);

 private:
  std::uint32_t count_shadows(RnicId source, RnicId target) const;
  bool is_shadowed(RnicId at, RnicId source, RnicId target) const;
  void admit(RnicId rnic, Megaflow& flow);
  void rebalance(std::vector<Megaflow*>& flows,
                 std::uint32_t& left,
                 const FlowClocks& clocks,
                 Time now);

  const Fabric* fabric_;
  EswitchOptions options_;
  std::uint64_t seed_;
  bool any_shadow_ = false;
  IdVector<RnicId, std::uint32_t> own_entries_;
  IdVector<RnicId, std::uint32_t> left_;  ///< tickets that a new flow can have before the next deal
  IdVector<RnicId, double> shadow_shares_;
  IdVector<RnicId, std::uint16_t> refusals_;
};

}  // namespace bonescan
