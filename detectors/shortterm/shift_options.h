// What the sliding test of a pair's level may be told.
#pragma once

#include "detectors/shortterm/null_threshold.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>

namespace bonescan {

enum class LatencyEvaluation : std::uint8_t {
  kSliding,  ///< of a visit when it is complete, and of windows
  kWindows,  ///< of windows alone, as in an ablation
};

struct ShiftOptions {
  LatencyEvaluation evaluation = LatencyEvaluation::kSliding;

  /// Budget of the whole fleet, both statistics together: visits that are wrongly called late.
  /// @ours
  double false_alarms_per_day = 0.1;
  /// The same per evaluation; 0: follows from the budget and the rate of evaluations.
  double probability = 0.0;

  std::size_t history = 16;       ///< visits remembered per pair, at most kMostVisits @ours
  std::size_t least_history = 5;  ///< visits before a pair is judged @ours
  Duration feature_floor = std::chrono::nanoseconds(500);  ///< smaller RTTs count as this

  double least_sd = 0.02;           ///< of a log level: coarse clocks have none @ours
  std::uint64_t least_scale = 200;  ///< contributions before a class's spread is trusted @ours
  std::uint64_t scale_memory = 1'000'000;  ///< contributions, until half are forgotten @ours
  double prior_visits = 8.0;      ///< weight of the class's spread beside a pair's own @ours
  double own_visits_most = 64.0;  ///< weight of a pair's own spread at most @ours

  double run_clip = 4.0;           ///< one visit counts at most so much in the run of visits @ours
  double run_drift = 0.75;         ///< and loses this @ours
  double least_factor = 1.05;      ///< effect that one visit must show @ours
  double least_run_factor = 1.03;  ///< effect that the last visit of a run must show @ours
  double suspect_factor = 1.25;    ///< late by eye, while there is no threshold yet @ours
  double suspect_score = 6.0;      ///< and by this z, both @ours

  double candidate_probability = 1e-3;  ///< rarer visits are looked at by their factor @ours
  double least_lof = 1.5;               ///< and must be this lonely @ours

  Duration freeze = std::chrono::minutes(10);  ///< a late pair's history stands still so long @ours
  std::size_t blip_visits = 2;  ///< late no longer than this: noise of the class after all @ours
  NullThresholdOptions null{.shape_margin_sd = 1.0};
};

}  // namespace bonescan
