#include "planner/predict/late_visits.h"

#include "detectors/shortterm/shift_options.h"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>

namespace bonescan {

double late_visit_probability(const PlannedSchedule& schedule,
                              const PlannedNoise& noise,
                              double factor) {
  const boost::math::normal unit;
  const double visits_per_day =
      static_cast<double>(schedule.rnics) * 86'400.0 / seconds(schedule.visit);
  const double probability = std::min(schedule.latency_alarms_per_day / visits_per_day, 1e-3);
  const double threshold = boost::math::quantile(boost::math::complement(unit, probability / 2.0));
  const double count = std::max(2.0, static_cast<double>(schedule.probes_per_visit));
  const ShiftOptions options;
  const double median_sd =
      std::max(options.least_sd, noise.latency_sigma * std::sqrt(1.5708 / count));
  // Of the least of n normal values: Gumbel's limit.
  const double minimum_sd =
      std::max(options.least_sd, noise.latency_sigma * 1.2825 / std::sqrt(2.0 * std::log(count)));
  const double shift = std::log(factor);
  const auto above = [&](double sd) {
    const double least = std::max(threshold * sd, std::log(options.least_factor));
    return boost::math::cdf(unit, (shift - least) / sd);
  };
  return std::min(above(median_sd), above(minimum_sd));
}

}  // namespace bonescan
