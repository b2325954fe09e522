// Runs the plan of the detection study; the same answer whatever the number of threads.
#pragma once

#include "tools/study/detection/detection_plan.h"
#include "tools/study/detection/null_check.h"
#include "tools/study/detection/placing_runs.h"
#include "tools/study/detection/rare_alarms.h"

#include <functional>
#include <string>
#include <vector>

namespace bonescan {

struct DelayResult {
  DelayCase one;
  InformationBound bound;
  std::vector<TrialSeries> series;  ///< by entry; empty: it does not look at such faults
  TrialSeries ours;                 ///< whichever of ours was first
  TrialSeries paper;                ///< whichever of the published configuration was first

  bool holds() const;
};

struct NullResult {
  NoiseWorld world = NoiseWorld::kWellSpecified;
  std::vector<NullSeries> series;  ///< by entry
};

/// One setting of one detector.
struct OperatingPoint {
  std::string curve;
  std::string setting;
  double value = 0.0;
  std::uint64_t false_alarms = 0;
  double fleet_days = 0.0;
  double found_small = 0.0;   ///< x1.25 of a pair within 60 s
  double found_middle = 0.0;  ///< x1.5
  double found_large = 0.0;   ///< x7.5
};

struct AblationResult {
  std::string name;
  std::vector<TrialSeries> series;  ///< by case
  NullSeries null;
};

struct DetectionResults {
  SeedParity parity = SeedParity::kOdd;
  DetectionSize size = DetectionSize::kFull;
  std::vector<DetectorEntry> entries;       ///< of `delays` and `nulls`
  std::vector<DetectorEntry> slow_entries;  ///< of `drifts`
  std::vector<DelayResult> delays;
  std::vector<DelayResult> drifts;
  std::vector<NullResult> nulls;
  std::vector<RareAlarms> rare;  ///< the bonescan rules, at their budgets
  std::vector<NullCheck> checks;
  std::vector<OperatingPoint> operating;
  std::vector<std::string> ablation_cases;
  std::vector<AblationResult> ablations;
  std::vector<PlacingResult> placing;

  bool complete = false;  ///< every part was run

  bool hold() const;
};

/// `after_part` sees what there is after each part: a long run that is stopped has its results.
DetectionResults run_detection_study(
    DetectionSize size,
    SeedParity parity,
    std::uint32_t threads,
    const std::function<void(const DetectionResults&)>& after_part);

/// The first of the entries that alarms, trial by trial.
TrialSeries first_of(const std::vector<DetectorEntry>& entries,
                     const std::vector<TrialSeries>& series,
                     bool DetectorEntry::*member);

}  // namespace bonescan
