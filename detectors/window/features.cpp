#include "detectors/window/features.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

// Up to here a branch-free insertion sort beats std::sort, whose comparisons are mispredicted.
constexpr std::size_t kSmallSort = 24;

void sort_small(std::span<std::uint32_t> values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    std::uint32_t carried = values[i];
    for (std::size_t j = 0; j < i; ++j) {
      const std::uint32_t held = values[j];
      values[j] = std::min(held, carried);
      carried = std::max(held, carried);
    }
    values[i] = carried;
  }
}

// Linear interpolation between the order statistics around rank (n - 1) * quarter / 4.
double quartile(std::span<const std::uint32_t> sorted, std::size_t quarter) {
  const std::size_t position = (sorted.size() - 1) * quarter;
  const std::size_t below = position / 4;
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double low = sorted[below];
  const double high = sorted[above];
  return low + (high - low) * (static_cast<double>(position % 4) * 0.25);
}

}  // namespace

FeatureVector window_features(std::span<std::uint32_t> rtt_ns) {
  BONESCAN_DCHECK(!rtt_ns.empty());
  if (rtt_ns.size() <= kSmallSort) {
    sort_small(rtt_ns);
  } else {
    std::sort(rtt_ns.begin(), rtt_ns.end());
  }
  std::uint64_t sum = 0;
  for (const std::uint32_t value : rtt_ns) {
    sum += value;
  }
  const auto count = static_cast<double>(rtt_ns.size());
  const double mean = static_cast<double>(sum) / count;
  // Summed in sorted order, so the order of the probes never matters, not even in the last bit.
  double squares = 0.0;
  for (const std::uint32_t value : rtt_ns) {
    const double deviation = static_cast<double>(value) - mean;
    squares += deviation * deviation;
  }
  FeatureVector features{};
  features[kP25] = quartile(rtt_ns, 1) / 1e3;
  features[kP50] = quartile(rtt_ns, 2) / 1e3;
  features[kP75] = quartile(rtt_ns, 3) / 1e3;
  features[kMin] = static_cast<double>(rtt_ns.front()) / 1e3;
  features[kMean] = mean / 1e3;
  features[kStdDev] = std::sqrt(squares / count) / 1e3;
  features[kMax] = static_cast<double>(rtt_ns.back()) / 1e3;
  return features;
}

FeatureVector log_features(const FeatureVector& features_us, double floor_us) {
  FeatureVector logs{};
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    logs[f] = std::log(std::max(features_us[f], floor_us));
  }
  return logs;
}

}  // namespace bonescan
