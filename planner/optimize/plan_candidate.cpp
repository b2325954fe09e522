#include "planner/optimize/plan_candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

constexpr double kFleetRnics = 32'768.0;  ///< for which rates of failures are given
constexpr double kGpuSecondsPerHour = 3'600.0;

/// Bisection over a mixture of increasing shares.
constexpr int kBisections = 50;

struct Mixture {
  std::vector<DelayPrediction> parts;
  std::vector<double> weights;  ///< add up to 1

  double within(Duration delay) const {
    double share = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      share += weights[i] * parts[i].within(delay);
    }
    return share;
  }

  double never() const {
    double share = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      share += weights[i] * parts[i].never();
    }
    return share;
  }

  std::optional<double> quantile_s(double share) const {
    double high = 0.0;
    for (const DelayPrediction& part : parts) {
      // Beyond the last share that any part ever finds nothing is added.
      const double least = std::min(share, (1.0 - part.never()) * 0.999'999);
      const auto bound = least > 0.0 ? part.quantile(least) : std::nullopt;
      high = std::max(high, bound ? seconds(*bound) : 0.0);
    }
    for (int doubled = 0; doubled < 8 && within(from_seconds(high)) < share; ++doubled) {
      high = std::max(2.0 * high, 1.0);
    }
    if (within(from_seconds(high)) < share) {
      return std::nullopt;
    }
    double low = 0.0;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = 0.5 * (low + high);
      (within(from_seconds(middle)) < share ? low : high) = middle;
    }
    return high;
  }

  /// Expected time until a failure is known, if users notice it after `unnoticed`.
  double expected_s(Duration unnoticed) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto mean = parts[i].mean();
      const double found_s = mean ? std::min(seconds(*mean), seconds(unnoticed)) : 0.0;
      const double never = parts[i].never();
      sum += weights[i] * ((1.0 - never) * found_s + never * seconds(unnoticed));
    }
    return sum;
  }
};

void check_limits(const PlanLimits& limits, PlanCandidate& candidate) {
  const auto check = [&](const std::optional<double>& most, double found, std::string_view name) {
    if (most && found > *most) {
      candidate.misses.push_back(fmt::format("{} ({:.3g} of {:.3g})", name, found, *most));
    }
  };
  check(limits.false_alarms_per_day, candidate.false_alarms.total(), "false alarms a day");
  check(limits.agent_cores, candidate.cost.agent_cores, "cores of an agent");
  check(limits.wire_bits_per_s, candidate.cost.wire_bits_per_s, "bits a second of an RNIC");
  check(limits.eswitch_entries, candidate.cost.eswitch_entries, "eswitch entries of an RNIC");
  check(limits.analyzer_cores, candidate.cost.analyzer_cores, "cores of the analyzer");
}

void add_outcome(const PlanObjective& objective,
                 ObjectiveOutcome outcome,
                 PlanCandidate& candidate) {
  if (!outcome.met) {
    const std::string found =
        outcome.quantile_s
            ? fmt::format("{:.3g} s of {:.3g} s", *outcome.quantile_s, seconds(objective.within))
            : fmt::format("{:.0f} % are never found", 100.0 * outcome.never);
    candidate.misses.push_back(fmt::format("{} ({})", objective.name, found));
  }
  candidate.objectives.push_back(outcome);
}

}  // namespace

std::string_view to_string(FailingPart part) {
  return part == FailingPart::kPair ? "pair" : "rnic";
}

std::uint64_t rnic_count(std::span<const TaskGroup> tasks) {
  std::uint64_t count = 0;
  for (const TaskGroup& group : tasks) {
    count += group.count * group.shape.rnics;
  }
  return count;
}

double gpus_behind_a_failure(std::span<const TaskGroup> tasks) {
  double squares = 0.0;
  double sum = 0.0;
  for (const TaskGroup& group : tasks) {
    const auto size = static_cast<double>(group.shape.rnics);
    squares += static_cast<double>(group.count) * size * size;
    sum += static_cast<double>(group.count) * size;
  }
  return sum > 0.0 ? squares / sum : 0.0;
}

WeightedLists weighted(std::vector<ListLength> lengths, std::size_t most) {
  WeightedLists lists;
  double sum = 0.0;
  for (const ListLength& one : lengths) {
    sum += static_cast<double>(one.length) * static_cast<double>(one.rnics);
    lists.rnics += one.rnics;
    lists.longest = std::max(lists.longest, one.length);
  }
  lists.mean = lists.rnics > 0 ? sum / static_cast<double>(lists.rnics) : 0.0;
  lists.lengths = coarsened(std::move(lengths), most);
  return lists;
}

ObjectiveOutcome judge_objective(const PlanObjective& objective,
                                 const PlannedSchedule& schedule,
                                 const PlannedNoise& noise,
                                 const WeightedLists& lists,
                                 Duration unnoticed) {
  Mixture mixture;
  for (const ListLength& one : lists.lengths) {
    PlannedSchedule of_length = schedule;
    of_length.list_length = one.length;
    const PlannedFailure failure = {.symptom = objective.symptom,
                                    .size = objective.size,
                                    .pairs = pairs_of(objective.part, one.length)};
    mixture.parts.push_back(predict_delay(of_length, failure, noise));
    mixture.weights.push_back(static_cast<double>(one.rnics) / static_cast<double>(lists.rnics));
  }
  ObjectiveOutcome outcome;
  outcome.quantile_s = mixture.quantile_s(objective.share);
  outcome.median_s = mixture.quantile_s(0.5);
  outcome.never = mixture.never();
  outcome.expected_s = mixture.expected_s(unnoticed);
  outcome.met = outcome.quantile_s && *outcome.quantile_s <= seconds(objective.within);
  return outcome;
}

PlanCandidate judge_candidate(const PlanQuestion& question,
                              ProbeScheme scheme,
                              const WeightedLists& lists,
                              Duration visit,
                              std::uint8_t probes_per_visit) {
  PlannedSchedule schedule = question.schedule;
  schedule.visit = visit;
  schedule.probes_per_visit = probes_per_visit;
  schedule.rnics = lists.rnics;
  schedule.list_length = std::max(1U, static_cast<std::uint32_t>(std::lround(lists.mean)));

  PlanCandidate candidate;
  candidate.scheme = scheme;
  candidate.visit = visit;
  candidate.probes_per_visit = probes_per_visit;
  candidate.mean_list = lists.mean;
  candidate.longest_list = lists.longest;
  candidate.sweep_s = seconds(visit) * static_cast<double>(lists.longest);
  candidate.probes_per_rnic_s = static_cast<double>(probes_per_visit) / seconds(visit);
  candidate.false_alarms = designed_false_alarms(schedule, question.noise);
  candidate.cost = estimate_cost(schedule, question.constants);

  const double gpus = gpus_behind_a_failure(question.tasks);
  const double fleet = static_cast<double>(rnic_count(question.tasks)) / kFleetRnics;
  double gpu_seconds = 0.0;
  for (const PlanObjective& objective : question.objectives) {
    const ObjectiveOutcome outcome =
        judge_objective(objective, schedule, question.noise, lists, question.price.unnoticed);
    gpu_seconds += objective.per_fleet_day * fleet * objective.harm * outcome.expected_s * gpus;
    add_outcome(objective, outcome, candidate);
  }
  candidate.gpu_hours_per_day =
      gpu_seconds / kGpuSecondsPerHour +
      candidate.false_alarms.total() * question.price.false_alarm_gpu_hours;
  check_limits(question.limits, candidate);
  return candidate;
}

}  // namespace bonescan
