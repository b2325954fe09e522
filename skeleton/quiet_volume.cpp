#include "skeleton/quiet_volume.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bonescan {
namespace {

/// Members whose samples are looked at, a stage: more do not move a median. @ours
constexpr std::size_t kMostMembers = 128;
/// Standard errors that a single stage's excess must exceed. @ours
constexpr double kSure = 3.0;
/// The same for all stages together. @ours
constexpr double kLikely = 1.5;

std::vector<std::size_t> quiet_columns(const FloatMatrix& series,
                                       const std::vector<std::size_t>& units) {
  std::vector<double> sums(series.columns, 0.0);
  for (const std::size_t unit : units) {
    const auto row = series.row(unit);
    for (std::size_t t = 0; t < row.size(); ++t) {
      sums[t] += static_cast<double>(row[t]);
    }
  }
  std::vector<std::size_t> order(series.columns);
  std::iota(order.begin(), order.end(), 0U);
  const auto count = static_cast<std::ptrdiff_t>(kQuietShare * static_cast<double>(order.size()));
  std::nth_element(order.begin(), order.begin() + count, order.end(), [&](auto a, auto b) {
    return sums[a] < sums[b] || (sums[a] == sums[b] && a < b);
  });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

struct Share {
  double value = 0.0;
  double error = 0.0;  ///< standard
};

/// Of the members of these units: the median of their samples in quiet columns, over their mean.
Share share_of(const TrafficRecord& record,
               const TrafficUnits& units,
               const std::vector<std::size_t>& which,
               const std::vector<std::size_t>& quiet) {
  std::vector<float> samples;
  double sum = 0.0;
  double count = 0.0;
  std::size_t members = 0;
  for (const std::size_t unit : which) {
    for (const std::uint32_t member : units.members[unit]) {
      if (++members > kMostMembers) {
        break;
      }
      const auto row = record.row(member);
      for (const std::size_t t : quiet) {
        if (!std::isnan(row[t])) {
          samples.push_back(row[t]);
        }
      }
      for (const float x : row) {
        if (!std::isnan(x)) {
          sum += static_cast<double>(x);
          ++count;
        }
      }
    }
  }
  if (samples.empty() || sum <= 0.0) {
    return {};
  }
  const auto at = [&](std::size_t rank) {
    const auto place = samples.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(samples.begin(), place, samples.end());
    return static_cast<double>(*place);
  };
  const double median = at(samples.size() / 2);
  // Quartiles of a normal distribution are 1.35 standard deviations apart.
  const double sd = (at(samples.size() * 3 / 4) - at(samples.size() / 4)) / 1.35;
  const double mean = sum / count;
  return {std::max(median, 0.0) / mean,
          1.25 * sd / std::sqrt(static_cast<double>(samples.size())) / mean};
}

}  // namespace

double quiet_volume(const TrafficRecord& record,
                    const TrafficUnits& units,
                    const std::vector<std::uint32_t>& labels,
                    std::size_t groups) {
  double largest = 0.0;
  double sum = 0.0;
  double measured = 0.0;
  double square_error = 0.0;
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<std::size_t> halves[2];
    for (std::size_t unit = 0; unit < labels.size(); ++unit) {
      if (labels[unit] == g) {
        auto& half = halves[0].size() > halves[1].size() ? halves[1] : halves[0];
        half.push_back(unit);
      }
    }
    if (halves[1].empty()) {
      continue;
    }
    for (std::size_t half = 0; half < 2; ++half) {
      const auto quiet = quiet_columns(units.series, halves[half]);
      const Share share = share_of(record, units, halves[1 - half], quiet);
      largest = std::max(largest, share.value - kSure * share.error);
      sum += share.value;
      square_error += share.error * share.error;
      ++measured;
    }
  }
  const double pooled = measured > 0.0 ? (sum - kLikely * std::sqrt(square_error)) / measured : 0.0;
  return std::max({largest, pooled, 0.0});
}

}  // namespace bonescan
