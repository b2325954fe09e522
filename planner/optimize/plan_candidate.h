// One schedule, judged: what it finds how soon, how often it errs, what it costs.
//
// Intuition: lists of a fleet have several lengths, so a delay is a mixture over them; a quantile
// of the mixture is where the weighted shares found so far add up.  Delays are predicted by the
// rules of this detector whatever the scheme, since lists are what is compared (METHODS.md).
#pragma once

#include "planner/optimize/plan_question.h"
#include "planner/predict/delay.h"
#include "planner/predict/false_alarms.h"

#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// How soon one kind of failure is found.
struct ObjectiveOutcome {
  std::optional<double> quantile_s;  ///< at the objective's share; absent: fewer are ever found
  std::optional<double> median_s;
  double never = 0.0;  ///< share that is never found
  /// Expected time until somebody knows: found, or noticed by users.
  double expected_s = 0.0;
  bool met = false;
};

struct PlanCandidate {
  ProbeScheme scheme = ProbeScheme::kSkeleton;
  Duration visit{};
  std::uint8_t probes_per_visit = 0;
  double mean_list = 0.0;
  std::uint32_t longest_list = 0;
  double sweep_s = 0.0;                        ///< of the longest list
  double probes_per_rnic_s = 0.0;              ///< what is paid
  std::vector<ObjectiveOutcome> objectives{};  ///< in the order of the question
  FalseAlarms false_alarms{};                  ///< a day, of all RNICs
  PlanCost cost{};                             ///< with the mean list
  double gpu_hours_per_day = 0.0;  ///< lost in failures until they are found, and to false alarms
  std::vector<std::string> misses{};  ///< objectives and limits that it does not meet

  bool feasible() const { return misses.empty(); }
};

/// A fleet's lists, weighted.
struct WeightedLists {
  std::vector<ListLength> lengths;
  double mean = 0.0;
  std::uint32_t longest = 0;
  std::uint64_t rnics = 0;  ///< with a list
};

/// At most `most` lengths are told apart.
WeightedLists weighted(std::vector<ListLength> lengths, std::size_t most = 6);

/// A delay over all lists.  REQUIRES: lists are not empty.
ObjectiveOutcome judge_objective(const PlanObjective& objective,
                                 const PlannedSchedule& schedule,
                                 const PlannedNoise& noise,
                                 const WeightedLists& lists,
                                 Duration unnoticed);

/// REQUIRES: lists are not empty.
PlanCandidate judge_candidate(const PlanQuestion& question,
                              ProbeScheme scheme,
                              const WeightedLists& lists,
                              Duration visit,
                              std::uint8_t probes_per_visit);

}  // namespace bonescan
