// The seven features of a window of RTTs: P25, P50, P75, minimum, mean, standard deviation,
// maximum.
//
// Percentiles interpolate linearly between order statistics (numpy's default), the standard
// deviation divides by n.  @paper SkeletonHunter, section 3.2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bonescan {

constexpr std::size_t kFeatureCount = 7;

enum Feature : std::size_t {
  kP25 = 0,
  kP50,
  kP75,
  kMin,
  kMean,
  kStdDev,
  kMax
};

/// Unit: microseconds, or its natural logarithm where a name says log.
using FeatureVector = std::array<double, kFeatureCount>;

/// Features of RTTs in nanoseconds, in microseconds.  Sorts `rtt_ns` in place.
/// REQUIRES: not empty, every value is an answered RTT.
FeatureVector window_features(std::span<std::uint32_t> rtt_ns);

/// Natural logarithm of each feature, floored at `floor_us` (a standard deviation may be zero).
FeatureVector log_features(const FeatureVector& features_us, double floor_us);

}  // namespace bonescan
