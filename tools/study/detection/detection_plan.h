// What the detection study runs: faults, fleets and watches, and what is required of them.
#pragma once

#include "tools/study/detection/detection_trials.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

enum class DetectionSize : std::uint8_t {
  kQuick,  ///< does it run?
  kBrief,  ///< a third of everything
  kFull,
};

/// The number that goes with the size.
constexpr std::uint32_t sized(DetectionSize size,
                              std::uint32_t quick,
                              std::uint32_t brief,
                              std::uint32_t full) {
  switch (size) {
    case DetectionSize::kQuick:
      return quick;
    case DetectionSize::kBrief:
      return brief;
    case DetectionSize::kFull:
      return full;
  }
  return full;
}

/// What the delay of the bonescan rules together has to be; 0 wants nothing.
struct DelayBound {
  double mean_s = 0.0;
  double p95_s = 0.0;
  double mean_probes = 0.0;  ///< that crossed the fault
  double median_s = 0.0;

  bool wanted() const { return mean_s > 0 || p95_s > 0 || mean_probes > 0 || median_s > 0; }
};

struct DelayCase {
  std::string group;  ///< one table a group
  std::string name;
  double x = 0.0;  ///< in the figure of its group
  TrialPlan plan{};
  DelayBound bound{};
};

/// False alarms that all rules together may raise: what 98.2 % and 99.5 % precision allow at 26.2
/// faults a day.
constexpr double kAllowedFalseAlarms = 0.48;
constexpr double kGoalFalseAlarms = 0.13;

/// A quarter of an hour of 32,768 RNICs, where the world is as assumed.
constexpr std::uint64_t learnt_visits(DetectionSize size, NoiseWorld world) {
  return size != DetectionSize::kQuick && world == NoiseWorld::kWellSpecified ? 30'000'000
                                                                              : 1'000'000;
}

std::vector<DelayCase> delay_cases(DetectionSize size);

/// A drift of 10 % a day; these last for days and are heard by long-term rules alone.
std::vector<DelayCase> drift_cases(DetectionSize size);

/// What the best test needs in this case at the goal's budget.
struct InformationBound {
  double nats = 0.0;            ///< that the budget asks for
  double nats_per_probe = 0.0;  ///< of the whole fault, where it grows
  double probes = 0.0;
  double delay_s = 0.0;
};

InformationBound information_bound(const DelayCase& one);

/// Probes a second that cross the fault, on average over seeds.
double crossing_probes_per_s(const TrialPlan& plan);

}  // namespace bonescan
