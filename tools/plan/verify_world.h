// A small job that is broken again and again, to see how soon that is found.
//
// Intuition: a prediction is a distribution, so it takes thousands of failures to check; a run each
// would take hours.  One job of (list + 1) hosts with four rails is struck many times in one run,
// at random moments of the sweep, here and there, each strike over and its incident closed before
// the next in its place.  All that the scenario has of confounders is on. A pair is broken both
// ways, each by the one link that no other probe crosses; an RNIC by its uplink.  Loss is per round
// trip, latency the factor of the unloaded round trip.  Strikes count from their injection: these
// effects act at once, so it is their time zero. Failures of latency last for seven sweeps at
// least: a pair that is late for a visit or two is taken for noise, and hundreds of such in one run
// would move the threshold of all.
#pragma once

#include "planner/optimize/plan_question.h"
#include "planner/predict/delay.h"
#include "scenarios/schema/scenario.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

/// What is struck, how, and what was predicted of it.
struct VerifyPoint {
  std::string name;
  FailureSymptom symptom = FailureSymptom::kLoss;
  double size = 1.0;
  FailingPart part = FailingPart::kRnic;
  Duration visit{};
  std::uint8_t probes_per_visit = 10;
  std::uint32_t list_length = 15;
  DelayPrediction predicted{};
};

/// RNICs of the job.
std::uint32_t verify_rnics(const VerifyPoint& point);

/// Of many strikes.
struct VerifyOutcome {
  std::vector<double> delays_s{};  ///< of those that were found, ascending
  std::uint64_t faults = 0;

  /// Over all, those that were missed last; linear between neighbours; infinite if it is missed.
  /// REQUIRES: at least one fault.
  double quantile_s(double share) const;
};

/// The scenario of a point: `file` with the job, the list and the rate of the point.
/// @throws ConfigError
Scenario verify_scenario(const std::string& file,
                         const VerifyPoint& point,
                         std::uint64_t seed,
                         Duration duration);

/// Adds the outcomes of one world with at most `most` strikes.
void strike_world(const std::string& file,
                  const VerifyPoint& point,
                  std::uint64_t seed,
                  std::uint64_t most,
                  VerifyOutcome& outcome);

}  // namespace bonescan
