#include "detectors/incident/severity.h"

namespace bonescan {
namespace {

Severity of_loss(std::optional<double> loss_ratio) {
  if (!loss_ratio) {
    return Severity::kP1;  // Lost packets are sent again: a burst of correctable errors.
  }
  if (*loss_ratio >= kStoppingLossRatio) {
    return Severity::kP0;
  }
  return *loss_ratio < kSlightLossRatio ? Severity::kP2 : Severity::kP1;
}

Severity of_latency(const IncidentStrength& strength) {
  const double factor = strength.latency_factor.value_or(1.0);
  const bool shared = strength.pairs > 1 || strength.tasks > 1;
  return factor > (shared ? kSlowFactor : kLonePairFactor) ? Severity::kP1 : Severity::kP2;
}

}  // namespace

Severity severity_of(const IncidentStrength& strength) {
  if (strength.layer == Layer::kAgent) {
    return Severity::kP2;  // Nobody's job stops; somebody is blind.
  }
  switch (strength.symptom) {
    case Symptom::kUnreachable:
      return Severity::kP0;
    case Symptom::kLoss:
      return of_loss(strength.loss_ratio);
    case Symptom::kLatency:
      // What a host's own checks show slows every job on it, whether probes see it or not.
      return strength.layer == Layer::kHost ? Severity::kP1 : of_latency(strength);
  }
  return Severity::kP2;
}

}  // namespace bonescan
