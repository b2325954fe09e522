#include "planner/predict/false_alarms.h"

#include "detectors/loss/component_evidence.h"
#include "sim/base/check.h"

#include <boost/math/distributions/chi_squared.hpp>

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

MeasuredRate measured_false_alarms(const MeasuredAlarms& measured, std::uint64_t rnics) {
  BONESCAN_CHECK(measured.rnic_days > 0.0);
  const double days = measured.rnic_days / static_cast<double>(rnics);
  const auto count = static_cast<double>(measured.count);
  const boost::math::chi_squared law(2.0 * count + 2.0);
  return {.per_day = count / days, .upper95 = boost::math::quantile(law, 0.95) / 2.0 / days};
}

}  // namespace bonescan
