#include "detectors/window/features.h"

#include "detectors/window/rank_sort.h"
#include "sim/base/check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace bonescan {
namespace {

// Middle lengths are sorted by digits, without mispredicted comparisons too.
constexpr std::size_t kLongestDigitSort = 1024;

// Least significant digit first, over the digits in which the values differ.
void sort_by_digits(std::span<std::uint32_t> values) {
  constexpr unsigned kDigitBits = 8;
  constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): only written places are read.
  std::array<std::uint32_t, kLongestDigitSort> buffer;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const std::uint32_t base = *least;
  const unsigned bits = static_cast<unsigned>(std::bit_width(*most - base));
  std::uint32_t* from = values.data();
  std::uint32_t* to = buffer.data();
  for (unsigned shift = 0; shift < bits; shift += kDigitBits) {
    std::array<std::uint16_t, kDigits> places{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      ++places[((from[i] - base) >> shift) % kDigits];
    }
    std::uint16_t place = 0;
    for (std::uint16_t& count : places) {
      const std::uint16_t mine = count;
      count = place;
      place = static_cast<std::uint16_t>(place + mine);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      to[places[((from[i] - base) >> shift) % kDigits]++] = from[i];
    }
    std::swap(from, to);
  }
  if (from != values.data()) {
    std::copy_n(from, values.size(), values.data());
  }
}

void sort(std::span<std::uint32_t> values) {
  if (values.size() <= kLongestRanking) {
    sort_by_rank(values);
  } else if (values.size() <= kLongestDigitSort) {
    sort_by_digits(values);
  } else {
    std::sort(values.begin(), values.end());
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
  sort(rtt_ns);
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
