#include "skeleton/stage_count.h"

#include "sim/base/check.h"
#include "skeleton/low_rank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace bonescan {
namespace {

/// Counts that may fail to improve before larger ones are left out. @ours
constexpr std::size_t kPatience = 2;

struct CountedGroups {
  std::size_t groups = 0;
  double variance = 1.0;  ///< inside of groups, of the other half; all power is 1
};

struct Half {
  DoubleMatrix gram;
  DoubleMatrix coordinates;
  std::vector<Merge> tree;
};

Half half_of(const BurstFeatures& features, std::size_t first, std::size_t last, std::size_t rank) {
  const std::size_t n = features.rows.rows;
  Half half{DoubleMatrix(n, n), {}, {}};
  add_gram(features.rows, first, last, half.gram);
  half.coordinates = principal_coordinates(half.gram, std::min(rank, n - 1));
  half.tree = average_linkage(half.coordinates);
  return half;
}

/// Variance inside of groups per degree of freedom, over the mean power of a row.
double variance_inside(const DoubleMatrix& gram,
                       const std::vector<std::uint32_t>& labels,
                       std::size_t groups) {
  const std::size_t n = gram.rows;
  const double size = static_cast<double>(n) / static_cast<double>(groups);
  double trace = 0.0;
  double between = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = gram.row(i);
    trace += row[i];
    for (std::size_t j = 0; j < n; ++j) {
      between += labels[i] == labels[j] ? row[j] : 0.0;
    }
  }
  const double inside = std::max(trace - between / size, 0.0) / static_cast<double>(n - groups);
  return trace > 0.0 ? inside / (trace / static_cast<double>(n)) : 1.0;
}

/// Mean square angular frequency of the group means, less the noise that is left in them.
double sharpness_of(const BurstFeatures& features,
                    const std::vector<std::uint32_t>& labels,
                    std::size_t groups,
                    double noise_power) {
  const std::size_t width = features.bins * 2;
  std::vector<double> power(features.bins, 0.0);
  std::vector<double> mean(features.rows.columns);
  const double size = static_cast<double>(features.rows.rows) / static_cast<double>(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    std::fill(mean.begin(), mean.end(), 0.0);
    for (std::size_t i = 0; i < features.rows.rows; ++i) {
      if (labels[i] == g) {
        const auto row = features.rows.row(i);
        for (std::size_t d = 0; d < mean.size(); ++d) {
          mean[d] += static_cast<double>(row[d]);
        }
      }
    }
    for (std::size_t d = 0; d < mean.size(); ++d) {
      power[d % width % features.bins] += mean[d] * mean[d] / (size * size);
    }
  }
  const double noise =
      static_cast<double>(groups) * noise_power / size / static_cast<double>(features.bins);
  double weighted = 0.0;
  double total = 0.0;
  for (std::size_t bin = 0; bin < features.bins; ++bin) {
    const double omega =
        2.0 * std::numbers::pi * features.hertz_per_bin * static_cast<double>(bin + 1);
    const double clean = std::max(power[bin] - noise, 0.0);
    weighted += clean * omega * omega;
    total += clean;
  }
  return total > 0.0 ? weighted / total : 0.0;
}

DoubleMatrix leading(const DoubleMatrix& points, std::size_t columns) {
  columns = std::min(columns, points.columns);
  DoubleMatrix result(points.rows, columns);
  for (std::size_t i = 0; i < points.rows; ++i) {
    std::copy_n(points.row(i).begin(), columns, result.row(i).begin());
  }
  return result;
}

std::vector<std::uint32_t> grouped(const Half& half, std::size_t groups) {
  if (groups == 1) {
    return std::vector<std::uint32_t>(half.gram.rows, 0);
  }
  // k centres span k - 1 directions.
  return group_stages(leading(half.coordinates, groups - 1), half.tree, groups, {.draws = 1})
      .labels;
}

double reach(const StageCount& found,
             std::size_t rows,
             std::size_t samples,
             const StageCountOptions& options) {
  const double freedom = static_cast<double>(rows) / 2.0 * static_cast<double>(samples) / 2.0;
  return options.chance * found.residual_power * std::sqrt(2.0 / freedom) +
         options.lag_spread_s * options.lag_spread_s * found.sharpness * found.shared_power;
}

}  // namespace

std::vector<std::size_t> possible_stage_counts(std::size_t count, std::size_t most) {
  std::vector<std::size_t> divisors;
  for (std::size_t k = 1; k <= most && 2 * k <= count; ++k) {
    if (count % k == 0) {
      divisors.push_back(k);
    }
  }
  return divisors;
}

StageCount count_stages(const BurstFeatures& features,
                        std::size_t samples,
                        const StageCountOptions& options) {
  const std::size_t n = features.rows.rows;
  BONESCAN_CHECK(n >= 2 && features.first_half_end > 0);
  BONESCAN_CHECK(features.second_half_from < features.rows.columns);
  const Half first = half_of(features, 0, features.first_half_end, options.rank);
  const Half second =
      half_of(features, features.second_half_from, features.rows.columns, options.rank);
  StageCount found;
  found.residual_power = std::numeric_limits<double>::infinity();
  std::vector<std::uint32_t> best_labels;
  std::size_t best_groups = 1;
  std::size_t without_gain = 0;
  std::vector<CountedGroups> tried;  // ascending
  for (const std::size_t k : possible_stage_counts(n, options.most_groups)) {
    std::vector<std::uint32_t> labels = grouped(first, k);
    const double variance = 0.5 * (variance_inside(second.gram, labels, k) +
                                   variance_inside(first.gram, grouped(second, k), k));
    tried.push_back({k, variance});
    if (variance < found.residual_power * 0.995) {
      without_gain = 0;
      best_labels = std::move(labels);
      best_groups = k;
    } else if (++without_gain == kPatience) {
      break;
    }
    found.residual_power = std::min(found.residual_power, variance);
  }
  found.shared_power = std::max(1.0 - found.residual_power, 0.0);
  found.sharpness = sharpness_of(features, best_labels, best_groups, found.residual_power);
  const double within_reach = reach(found, n, samples, options);
  double next_smaller = std::numeric_limits<double>::infinity();
  for (const CountedGroups& counted : tried) {
    if (counted.variance <= found.residual_power + within_reach) {
      found.groups = counted.groups;
      break;
    }
    next_smaller = std::min(next_smaller, counted.variance);
  }
  found.step_up = (next_smaller - found.residual_power) / within_reach;
  return found;
}

StageGroups final_groups(const BurstFeatures& features,
                         std::size_t groups,
                         const StageCountOptions& options) {
  const std::size_t n = features.rows.rows;
  DoubleMatrix gram(n, n);
  add_gram(features.rows, 0, features.rows.columns, gram);
  StageGroups result;
  result.coordinates = principal_coordinates(
      gram, std::min({options.rank, n - 1, std::max<std::size_t>(groups, 2) - 1}));
  result.grouping = group_stages(
      result.coordinates, average_linkage(result.coordinates), groups, GroupingOptions{});
  return result;
}

}  // namespace bonescan
