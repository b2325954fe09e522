#include "planner/predict/false_alarms.h"

#include "detectors/loss/component_evidence.h"

#include <cmath>

namespace bonescan {
namespace {

constexpr double kSecondsPerDay = 86'400.0;

}  // namespace

FalseAlarms designed_false_alarms(const PlannedSchedule& schedule, const PlannedNoise& noise) {
  const double visits =
      static_cast<double>(schedule.rnics) * kSecondsPerDay / seconds(schedule.visit);
  FalseAlarms alarms;
  // A run of losses ends at each probe with the probability of so many in a row.
  alarms.silence = visits * schedule.probes_per_visit *
                   std::pow(noise.base_loss_ratio, static_cast<double>(schedule.consecutive));
  if (schedule.configuration == DetectionConfiguration::kBonescan) {
    alarms.loss = visits * kComponentsOfAVisit * LossEvidenceOptions{}.false_alarms_per_visit;
    alarms.latency = schedule.latency_alarms_per_day;
  }
  return alarms;
}

}  // namespace bonescan
