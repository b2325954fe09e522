// What a planner asks: which failures must be found how soon, within which limits, at what price.
//
// Values only; scenarios/budget has examples, tools/plan/README.md says what each key means.
#pragma once

#include "planner/matrix/probe_matrix.h"
#include "planner/optimize/list_lengths.h"
#include "planner/predict/cost.h"
#include "planner/predict/schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// What fails, and so how many probes meet it.
enum class FailingPart : std::uint8_t {
  kPair,  ///< one pair, both ways: a rule, a tunnel's neighbour
  kRnic,  ///< everything of one RNIC: its port, its cable, its flow table
};

/// "pair", "rnic".
std::string_view to_string(FailingPart part);

/// Directed pairs in lists that meet what fails.
constexpr std::uint32_t pairs_of(FailingPart part, std::uint32_t list_length) {
  return part == FailingPart::kPair ? 2 : 2 * list_length;
}

struct PlanObjective {
  std::string name;
  FailureSymptom symptom = FailureSymptom::kLoss;
  /// Loss ratio of a round trip, or latency factor.
  double size = 1.0;
  FailingPart part = FailingPart::kRnic;
  double share = 0.95;  ///< of such failures that must be found ...
  Duration within = std::chrono::seconds(5);
  /// Such failures a day in 32,768 RNICs, for the price alone.
  double per_fleet_day = 0.0;
  /// Share of the task's time that is lost while it lasts and nobody has found it.
  double harm = 1.0;
};

/// Absent: not limited.
struct PlanLimits {
  std::optional<double> false_alarms_per_day{};
  std::optional<double> agent_cores{};
  std::optional<double> wire_bits_per_s{};  ///< of an RNIC, each way
  std::optional<double> eswitch_entries{};  ///< of an RNIC
  std::optional<double> analyzer_cores{};
};

/// What is tried: every combination.
struct PlanSearch {
  std::vector<ProbeScheme> schemes = {
      ProbeScheme::kFullMesh, ProbeScheme::kSameRail, ProbeScheme::kSkeleton};
  std::vector<Duration> visits = {std::chrono::milliseconds(500),
                                  std::chrono::seconds(1),
                                  std::chrono::seconds(2),
                                  std::chrono::seconds(4)};
  std::vector<std::uint8_t> probes_per_visit = {4, 10, 20};
};

/// What not knowing costs. @ours all of it but the fleet's rate
struct PriceModel {
  /// A failure that no probe finds is noticed by its users after this long: a collective's timeout.
  Duration unnoticed = std::chrono::minutes(30);
  /// GPU hours that one false incident costs: somebody looks, and drains a host of eight for this.
  double false_alarm_gpu_hours = 2.0;
};

struct PlanQuestion {
  FabricOptions fabric{};
  std::vector<TaskGroup> tasks{};
  PlannedSchedule schedule{};  ///< list, visit and probes are what is searched for
  PlannedNoise noise{};
  CostConstants constants{};
  std::vector<PlanObjective> objectives{};
  PlanLimits limits{};
  PlanSearch search{};
  PriceModel price{};
};

/// RNICs of all tasks.
std::uint64_t rnic_count(std::span<const TaskGroup> tasks);

/// GPUs that wait when one RNIC of the fleet fails: the size of its task, a large one being hit as
/// often as it has RNICs; one GPU an RNIC.
double gpus_behind_a_failure(std::span<const TaskGroup> tasks);

}  // namespace bonescan
