// What the long-term detectors may be told: one set for the published test and the one for drifts.
#pragma once

#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

enum class ZForm : std::uint8_t {
  kPublished,          ///< single probes against a fit that is taken for the truth
  kWithBaselineError,  ///< medians of visits, two samples
};

/// A comparison reaches back at most so many periods: what lies between is kept for each pair.
constexpr std::int64_t kMostLagPeriods = 16;

/// Of `detection.configuration: paper`.
struct LagOptions {
  /// In periods, at most kMostLagPeriods; zero is no lag.  @paper: half an hour, one hour and two
  /// (one of its two wordings says one and a half).
  std::uint32_t first = 1;
  std::uint32_t second = 2;
  std::uint32_t third = 4;
  ZForm form = ZForm::kPublished;
  std::uint32_t least_samples = 30;  ///< of each of the two periods @ours
  /// Probability below which one comparison is anomalous: one test in a day of 300,000 pairs and
  /// 2,880 tests each.  @ours; the paper gives none
  double significance = 1.16e-9;
};

/// Levels that creep away: half hours against a pair's own first day (`paper`: against the last two
/// hours).
struct LongTermOptions {
  bool enabled = true;
  Duration period = std::chrono::minutes(30);           ///< @paper
  Duration reference = std::chrono::hours(24);          ///< a pair's own level is the mean of it
  Duration least_reference = std::chrono::hours(12);    ///< ... and known from here on
  Duration relearn_after = std::chrono::hours(72);      ///< of a drift that stays @ours
  double least_factor = 1.05;                           ///< a drift is at least this, or ...
  Duration least_shift = std::chrono::microseconds(1);  ///< ... this
  double ewma_weight = 0.1;                             ///< of the newest period @ours
  double cusum_slack = 1.0;                             ///< k, in standard deviations @ours
  std::uint32_t least_pairs = 5;        ///< of a class, to take their median out @ours
  double false_alarms_per_day = 0.048;  ///< of `fleet_pairs` pairs
  std::uint32_t fleet_pairs = 300'000;
  LagOptions lags;
};

}  // namespace bonescan
