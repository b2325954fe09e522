// Where failures strike: lemons, groups, and never the same place twice at once.
//
// A kind knows how to draw a place from what the jobs use.  Everything else is said about a place
// that was drawn: it is taken with a probability that follows the frailty of its host (or cable, or
// switch), and only if it is in the group that an event strikes.  So no kind need know of either,
// and the result is exact: a component of weight w is struck w times as often as one of weight 1.
// Invariants: equal (options, world, seed) give equal places.  Thread-compatible.
#pragma once

#include "faults/fault_spec.h"
#include "faults/kinds/fault_kind.h"
#include "faults/kinds/fault_site.h"
#include "faults/processes/failure_options.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan {

/// The host that a component is of; nullopt for switches and the cables between them.
std::optional<HostId> host_of(const Fabric& fabric, const ComponentRef& on);

/// The group of a component, as a number; nullopt if it is in none.  Not for kAny.
std::optional<std::uint64_t> group_of(const Fabric& fabric,
                                      const ComponentRef& on,
                                      FailureGroup group,
                                      const GroupOptions& options,
                                      std::uint64_t seed);

/// Gamma weights of hosts, of cables between switches, and of switches.  All 1 without frailty.
class Frailty final {
 public:
  Frailty(const FailureOptions& options, const Fabric& fabric, std::uint64_t seed);

  double weight(const ComponentRef& on) const;

  /// Of all components.
  double largest() const { return largest_; }

 private:
  const Fabric* fabric_;
  std::vector<double> hosts_;
  std::vector<double> cables_;  ///< from the first that is no access cable on
  std::vector<double> switches_;
  double largest_ = 1.0;
};

/// What the place of one failure must be.
struct PlaceWish {
  std::uint32_t failure = 0;  ///< its number
  std::uint32_t member = 0;   ///< of the group that the event strikes
  Time from;
  Time to;
  std::optional<HostId> host{};  ///< only on this one
  FailureGroup group = FailureGroup::kAny;
  std::optional<std::uint64_t> group_id{};  ///< only in this one
  std::vector<ComponentRef> others{};       ///< none of these: members that are struck already
};

class FailurePlaces final {
 public:
  /// REQUIRES: `options` and `site` outlive this.
  FailurePlaces(const FailureOptions& options, const FaultSite& site, std::uint64_t seed)
      : options_(&options), site_(&site), seed_(seed), frailty_(options, site.fabric(), seed) {}

  /// Draws until the wish is met, at most some thousand times; a place that was taken is busy until
  /// its failure ends.  Without a wish for a host or a group some place is found if there is one.
  std::optional<KindParameters> take(const FaultKind& kind, const PlaceWish& wish);

  /// A failure comes back to a place that it was at before.
  /// @returns whether it is free
  bool retake(const ComponentRef& on, Time from, Time to);

 private:
  bool is_free(const ComponentRef& on, Time from, Time to) const;
  bool is_wanted(const ComponentRef& on, const PlaceWish& wish, const RngStream& stream) const;

  const FailureOptions* options_;
  const FaultSite* site_;
  std::uint64_t seed_;
  Frailty frailty_;
  std::map<ComponentRef, std::vector<std::pair<Time, Time>>> busy_;
};

}  // namespace bonescan
