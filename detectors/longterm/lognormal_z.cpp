#include "detectors/longterm/lognormal_z.h"

#include <cmath>

namespace bonescan {

LogMoments log_moments(std::span<const double> samples) {
  LogMoments moments;
  moments.count = samples.size();
  if (samples.empty()) {
    return moments;
  }
  const auto n = static_cast<double>(samples.size());
  for (const double sample : samples) {
    moments.mean += std::log(sample);
  }
  moments.mean /= n;
  double squares = 0.0;
  for (const double sample : samples) {
    const double deviation = std::log(sample) - moments.mean;
    squares += deviation * deviation;
  }
  moments.sd_mle = std::sqrt(squares / n);
  moments.sd = samples.size() < 2 ? 0.0 : std::sqrt(squares / (n - 1.0));
  return moments;
}

double z_published(const LogMoments& base, const LogMoments& later) {
  return (later.mean - base.mean) / (base.sd / std::sqrt(static_cast<double>(later.count)));
}

double z_with_baseline_error(const LogMoments& base, const LogMoments& later) {
  const double error =
      1.0 / static_cast<double>(base.count) + 1.0 / static_cast<double>(later.count);
  return (later.mean - base.mean) / (base.sd * std::sqrt(error));
}

double z_two_sample(const LogMoments& base, const LogMoments& later) {
  const double error = base.sd * base.sd / static_cast<double>(base.count) +
                       later.sd * later.sd / static_cast<double>(later.count);
  return (later.mean - base.mean) / std::sqrt(error);
}

}  // namespace bonescan
