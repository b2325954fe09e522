// Which schedule to run: the cheapest that meets everything, and what more or fewer probes buy.
//
// The price is probes a second of an RNIC.  A candidate is dominated if another costs no more and
// loses no more GPU hours, and is better in one of them; what is left, by ascending price, is the
// Pareto curve.  Where nothing meets everything, the candidate that misses least says what binds:
// objectives and limits that no candidate meets bind by themselves, others only together.
#pragma once

#include "planner/optimize/plan_candidate.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// What one step along the curve buys.
struct PriceOfProbes {
  double probes_per_rnic_s = 0.0;  ///< more, or fewer if negative
  double gpu_hours_per_day = 0.0;  ///< lost more, or fewer if negative
  /// GPU hours a day lost for each probe a second and RNIC that is saved.
  std::optional<double> hours_per_probe_saved;
};

struct ScheduleChoice {
  std::optional<std::size_t> best;       ///< cheapest that meets everything; ties: fewer GPU hours
  std::vector<std::size_t> pareto;       ///< by ascending price
  std::optional<PriceOfProbes> cheaper;  ///< the next point of the curve with fewer probes
  std::optional<PriceOfProbes> dearer;   ///< the next with more
  /// Names of objectives and limits that no candidate meets, or, if each is met by some, those that
  /// the candidate with the fewest misses does not; empty if there is a best one.
  std::vector<std::string> binding;
  bool only_together = false;  ///< each of `binding` alone could be met
};

ScheduleChoice choose(const std::vector<PlanCandidate>& candidates);

}  // namespace bonescan
