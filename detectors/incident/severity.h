// How soon somebody must act: P0, P1 or P2.
//
// The tiers are published (facts quoted in METHODS.md); what a network symptom does to a job is
// not, so the limits between tiers are derived there from how RoCE loses and waits.
// Pure; thread-safe.
#pragma once

#include "detectors/records/incident.h"

#include <cstddef>
#include <optional>

namespace bonescan {

/// From here on packets fail all their retries so often that jobs stop. @ours see METHODS.md
inline constexpr double kStoppingLossRatio = 0.10;
/// Below this a go-back-N sender loses less than 15 % of its rate. @ours see METHODS.md
inline constexpr double kSlightLossRatio = 0.001;
/// @paper SuperPod white paper (DeepLink): P1 is a slowdown of more than 15 %
inline constexpr double kSlowFactor = 1.15;
/// A single pair must be this late to be more than jitter. @ours
inline constexpr double kLonePairFactor = 1.5;

/// What is known of an incident's strength; what is not known is absent.
struct IncidentStrength {
  Symptom symptom = Symptom::kLoss;
  Layer layer = Layer::kUndetermined;
  std::optional<double> loss_ratio{};      ///< lost share of the probes that could meet it
  std::optional<double> latency_factor{};  ///< largest median RTT over its usual value
  std::size_t pairs = 1;                   ///< undirected
  std::size_t tasks = 1;
};

/// ENSURES: more loss, a larger factor, more pairs or tasks never give a milder tier.
Severity severity_of(const IncidentStrength& strength);

/// The one that is more urgent.
constexpr Severity worse(Severity a, Severity b) {
  return a < b ? a : b;
}

}  // namespace bonescan
