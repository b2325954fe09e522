#include "skeleton/stage_lags.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bonescan {
namespace {

/// Longest lag that is looked at, as a share of the record, and in samples. @ours
constexpr std::size_t kLagShare = 3;
constexpr std::size_t kMostLag = 90;
/// How much better one double of a lag must line up than the next. @ours
constexpr double kCoherent = 0.04;
/// How much longer than any gap between stages the pause must be. @ours
constexpr double kPause = 1.5;

/// Sum of a[t] * b[t + lag] over the times that both have.
double correlation(std::span<const double> a, std::span<const double> b, std::ptrdiff_t lag) {
  const std::size_t skip_a = lag < 0 ? static_cast<std::size_t>(-lag) : 0;
  const std::size_t skip_b = lag > 0 ? static_cast<std::size_t>(lag) : 0;
  const std::size_t count = a.size() - std::max(skip_a, skip_b);
  double lanes[4] = {};
  std::size_t t = 0;
  for (; t + 4 <= count; t += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      lanes[lane] += a[skip_a + t + lane] * b[skip_b + t + lane];
    }
  }
  for (; t < count; ++t) {
    lanes[0] += a[skip_a + t] * b[skip_b + t];
  }
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

/// Place of the top of the parabola through three values, from the middle one.
double parabola_top(double left, double middle, double right) {
  const double curvature = left - 2.0 * middle + right;
  return curvature < 0.0 ? 0.5 * (left - right) / curvature : 0.0;
}

double length_of(std::span<const double> row) {
  return std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
}

/// Correlation coefficients for lags -most ... most, corrected for the shorter overlap.
std::vector<double> coefficients(std::span<const double> a,
                                 std::span<const double> b,
                                 std::size_t most) {
  const double scale = length_of(a) * length_of(b);
  std::vector<double> result(2 * most + 1, 0.0);
  for (std::size_t i = 0; i < result.size() && scale > 0.0; ++i) {
    const std::ptrdiff_t lag = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(most);
    const double overlap = static_cast<double>(a.size()) - std::abs(static_cast<double>(lag));
    result[i] = correlation(a, b, lag) / scale * static_cast<double>(a.size()) / overlap;
  }
  return result;
}

struct Peak {
  double lag = 0.0;
  double height = 0.0;
  double rival = 0.0;  ///< height of the best double, a period away
};

double top_height(const std::vector<double>& values, std::size_t at) {
  if (at == 0 || at + 1 >= values.size()) {
    return values[at];
  }
  const double x = parabola_top(values[at - 1], values[at], values[at + 1]);
  return values[at] - 0.25 * (values[at - 1] - values[at + 1]) * x;
}

Peak best_peak(const std::vector<double>& values, std::size_t most, double period) {
  std::size_t best = most;
  double height = -1.0;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    const bool top = values[i] >= values[i - 1] && values[i] >= values[i + 1];
    if (top && top_height(values, i) > height) {
      best = i;
      height = top_height(values, i);
    }
  }
  Peak peak{static_cast<double>(best) - static_cast<double>(most), height, -1.0};
  if (best > 0 && best + 1 < values.size()) {
    peak.lag += parabola_top(values[best - 1], values[best], values[best + 1]);
  }
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    const double away = std::abs(static_cast<double>(i) - static_cast<double>(best));
    if (away > 0.5 * period) {
      peak.rival = std::max(peak.rival, top_height(values, i));
    }
  }
  return peak;
}

/// Lags folded into one period and cut where the pause is; false if no gap stands out.
bool cut_at_pause(std::vector<double>& lags, double period) {
  std::vector<double> folded(lags.size());
  for (std::size_t g = 0; g < lags.size(); ++g) {
    folded[g] = lags[g] - std::floor(lags[g] / period) * period;
  }
  std::vector<double> sorted = folded;
  std::sort(sorted.begin(), sorted.end());
  double longest = 0.0;
  double second = 0.0;
  double first = sorted.front();
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double next = i + 1 < sorted.size() ? sorted[i + 1] : sorted.front() + period;
    const double gap = next - sorted[i];
    if (gap > longest) {
      second = longest;
      longest = gap;
      first = i + 1 < sorted.size() ? sorted[i + 1] : sorted.front();
    } else {
      second = std::max(second, gap);
    }
  }
  if (longest < kPause * second) {
    return false;
  }
  for (std::size_t g = 0; g < lags.size(); ++g) {
    lags[g] = folded[g] < first ? folded[g] + period : folded[g];
  }
  return true;
}

/// Mean square angular frequency of the means, from their first differences (rad per sample).
double sharpness_of(const DoubleMatrix& means) {
  double power = 0.0;
  double slope = 0.0;
  for (std::size_t g = 0; g < means.rows; ++g) {
    const auto row = means.row(g);
    for (std::size_t t = 1; t < row.size(); ++t) {
      power += row[t] * row[t];
      slope += (row[t] - row[t - 1]) * (row[t] - row[t - 1]);
    }
  }
  return power > 0.0 ? slope / power : 0.0;
}

}  // namespace

double burst_lag(std::span<const double> a, std::span<const double> b, std::size_t most_lag) {
  BONESCAN_CHECK(a.size() == b.size() && most_lag < a.size());
  const auto most = static_cast<std::ptrdiff_t>(most_lag);
  std::ptrdiff_t best = -most;
  double height = -std::numeric_limits<double>::infinity();
  for (std::ptrdiff_t lag = -most; lag <= most; ++lag) {
    const double value = correlation(a, b, lag);
    if (value > height) {
      height = value;
      best = lag;
    }
  }
  if (best == -most || best == most) {
    return static_cast<double>(best);
  }
  return static_cast<double>(best) +
         parabola_top(correlation(a, b, best - 1), height, correlation(a, b, best + 1));
}

BurstRhythm burst_rhythm(const DoubleMatrix& means, double noise_share) {
  const std::size_t most = std::min(means.columns / kLagShare, kMostLag);
  std::vector<double> mean(most + 1, 0.0);
  for (std::size_t g = 0; g < means.rows; ++g) {
    const auto row = means.row(g);
    const double power = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    for (std::size_t lag = 0; lag <= most && power > 0.0; ++lag) {
      const double overlap =
          static_cast<double>(row.size() - lag) / static_cast<double>(row.size());
      mean[lag] += correlation(row, row, static_cast<std::ptrdiff_t>(lag)) / power / overlap /
                   static_cast<double>(means.rows);
    }
  }
  // The first period is beyond the first valley.
  std::size_t lag = 1;
  while (lag < most && mean[lag] > 0.0 && mean[lag + 1] < mean[lag]) {
    ++lag;
  }
  BurstRhythm rhythm;
  std::size_t best = lag;
  for (std::size_t i = lag; i + 1 <= most; ++i) {
    // The shortest of peaks that are nearly alike: the others are its multiples.
    if (mean[i] > mean[best] * 1.1 || (best == lag && mean[i] > mean[best])) {
      best = i;
    }
  }
  rhythm.period = static_cast<double>(best);
  if (best > 0 && best < most) {
    rhythm.period += parabola_top(mean[best - 1], mean[best], mean[best + 1]);
  }
  double sum = 0.0;
  double count = 0.0;
  for (double multiple = 1.0; multiple <= 3.0; ++multiple) {
    const auto at = static_cast<std::size_t>(std::lround(multiple * rhythm.period));
    if (at > 0 && at < most) {
      sum += top_height(mean, at);
      ++count;
    }
  }
  rhythm.regularity = count > 0.0 ? sum / count / std::max(1.0 - noise_share, 0.05) : 0.0;
  return rhythm;
}

StageOrder order_stages(const DoubleMatrix& means, double period, double noise_share) {
  const std::size_t groups = means.rows;
  const std::size_t most = std::min(means.columns / kLagShare, kMostLag);
  std::vector<double> lags(groups, 0.0);
  bool coherent = true;
  const double noise = 3.0 * noise_share / std::sqrt(static_cast<double>(means.columns));
  for (std::size_t g = 1; g < groups; ++g) {
    const Peak peak = best_peak(coefficients(means.row(0), means.row(g), most), most, period);
    lags[g] = peak.lag;
    coherent = coherent && peak.height - peak.rival > kCoherent + noise;
  }
  StageOrder order;
  if (!coherent) {
    order.ambiguous = !cut_at_pause(lags, period);
  }
  std::vector<std::uint32_t> sorted(groups);
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return lags[a] < lags[b];
  });
  order.rank.resize(groups);
  order.smallest_gap = std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < groups; ++place) {
    order.rank[sorted[place]] = static_cast<std::uint32_t>(place);
    order.lags.push_back(lags[sorted[place]] - lags[sorted.front()]);
    if (place > 0) {
      order.smallest_gap = std::min(order.smallest_gap, order.lags[place] - order.lags[place - 1]);
    }
  }
  // Cramer and Rao: the variance of a delay is noise over signal, samples and bandwidth.
  const double ratio = noise_share / std::max(1.0 - noise_share, 0.05);
  const double sharpness = std::max(sharpness_of(means), 1e-6);
  order.lag_sd = std::sqrt(2.0 * ratio / (static_cast<double>(means.columns) * sharpness));
  return order;
}

DoubleMatrix stage_means(const FloatMatrix& series,
                         const std::vector<std::uint32_t>& labels,
                         std::size_t groups) {
  DoubleMatrix means(groups, series.columns);
  for (std::size_t unit = 0; unit < series.rows; ++unit) {
    const auto from = series.row(unit);
    const auto to = means.row(labels[unit]);
    for (std::size_t t = 0; t < to.size(); ++t) {
      to[t] += static_cast<double>(from[t]);
    }
  }
  const double size = static_cast<double>(series.rows) / static_cast<double>(groups);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto row = means.row(g);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) /
                        static_cast<double>(std::max<std::size_t>(row.size(), 1));
    for (double& x : row) {
      x = (x - mean) / size;
    }
  }
  return means;
}

}  // namespace bonescan
