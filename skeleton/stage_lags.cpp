#include "skeleton/stage_lags.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

namespace bonescan {
namespace {

/// Longest lag that is looked at, as a share of the record, and in samples. @ours
constexpr std::size_t kLagShare = 3;
constexpr std::size_t kMostLag = 90;
/// Parts of a record that must agree on where a full circle of stages begins. @ours
constexpr std::size_t kBlocks = 8;
/// By how many standard errors, over those parts, the best place must beat any other. @ours
constexpr double kCoherent = 2.5;
/// And by what share of a stage's power, since sampling alone shifts peaks by a little. @ours
constexpr double kLeastGain = 0.02;
/// Peaks of an autocorrelation are alike from this share of the highest on. @ours
constexpr double kSamePeak = 0.7;
/// Two ways to measure a gap may differ by so many samples. @ours
constexpr double kAgree = 0.3;
/// How much longer than any gap between stages the pause must be. @ours
constexpr double kPause = 1.5;

struct Block {
  std::size_t from = 0;
  std::size_t to = 0;
};

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

double top_height(const std::vector<double>& values, std::size_t at) {
  if (at == 0 || at + 1 >= values.size()) {
    return values[at];
  }
  const double x = parabola_top(values[at - 1], values[at], values[at + 1]);
  return values[at] - 0.25 * (values[at - 1] - values[at + 1]) * x;
}

/// The highest of a value and its two neighbours.
std::size_t nearby_top(const std::vector<double>& values, std::size_t at) {
  std::size_t best = at;
  for (const std::size_t other : {at - 1, at + 1}) {
    best = values[other] > values[best] ? other : best;
  }
  return best;
}

double best_lag(const std::vector<double>& values, std::size_t most) {
  std::size_t best = most;
  double height = -1.0;
  for (std::size_t i = 1; i + 1 < values.size(); ++i) {
    const bool top = values[i] >= values[i - 1] && values[i] >= values[i + 1];
    if (top && top_height(values, i) > height) {
      best = i;
      height = top_height(values, i);
    }
  }
  double lag = static_cast<double>(best) - static_cast<double>(most);
  if (best > 0 && best + 1 < values.size()) {
    lag += parabola_top(values[best - 1], values[best], values[best + 1]);
  }
  return lag;
}

/// How well two series line up near a lag, within [from, to) of the first.
double line_up(std::span<const double> a, std::span<const double> b, double lag, Block block) {
  const auto nearest = static_cast<std::ptrdiff_t>(std::lround(lag));
  double values[3] = {};
  for (std::size_t t = block.from; t < block.to; ++t) {
    for (std::ptrdiff_t i = -1; i <= 1; ++i) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(t) + nearest + i;
      if (at >= 0 && at < static_cast<std::ptrdiff_t>(b.size())) {
        values[i + 1] += a[t] * b[static_cast<std::size_t>(at)];
      }
    }
  }
  const double x = std::clamp(parabola_top(values[0], values[1], values[2]), -1.0, 1.0);
  return values[1] - 0.25 * (values[0] - values[2]) * x;
}

/// What is gained, block by block, by each way to cut the circle of stages: the stages that come
/// before the cut burst a period later than they would otherwise.
/// @returns a row a cut, a column a block
DoubleMatrix gains_of_cuts(const DoubleMatrix& means,
                           const std::vector<std::uint32_t>& circle,
                           const std::vector<double>& folded,
                           double period) {
  const std::size_t groups = circle.size();
  const auto margin = static_cast<std::size_t>(std::ceil(period)) + 2;
  DoubleMatrix gains(groups, kBlocks);
  for (std::size_t block = 0; block < kBlocks; ++block) {
    const std::size_t inside = means.columns - 2 * margin;
    const Block span{margin + inside * block / kBlocks, margin + inside * (block + 1) / kBlocks};
    for (std::size_t i = 0; i < groups; ++i) {
      for (std::size_t j = i + 1; j < groups; ++j) {
        const auto a = means.row(circle[i]);
        const auto b = means.row(circle[j]);
        const double lag = folded[circle[j]] - folded[circle[i]];
        const double gain = line_up(a, b, lag - period, span) - line_up(a, b, lag, span);
        // A cut at c puts i < c <= j on different sides: i then bursts a period later.
        for (std::size_t cut = i + 1; cut <= j; ++cut) {
          gains.row(cut)[block] += gain;
        }
      }
    }
  }
  return gains;
}

/// The cut that lines up best in the sum, if it beats every other by more than blocks differ.
std::optional<std::size_t> coherent_cut(const DoubleMatrix& gains, double block_power) {
  std::size_t best = 0;
  const auto total = [&](std::size_t cut) {
    const auto row = gains.row(cut);
    return std::accumulate(row.begin(), row.end(), 0.0);
  };
  for (std::size_t cut = 1; cut < gains.rows; ++cut) {
    best = total(cut) > total(best) ? cut : best;
  }
  for (std::size_t cut = 0; cut < gains.rows; ++cut) {
    if (cut == best) {
      continue;
    }
    const double mean = (total(best) - total(cut)) / static_cast<double>(kBlocks);
    double square_sum = 0.0;
    for (std::size_t block = 0; block < kBlocks; ++block) {
      const double off = gains.row(best)[block] - gains.row(cut)[block] - mean;
      square_sum += off * off;
    }
    const double error = std::sqrt(square_sum / static_cast<double>(kBlocks * (kBlocks - 1)));
    // Cuts next to each other differ in the pairs of one stage.
    const double least = kLeastGain * block_power * static_cast<double>(gains.rows - 1);
    if (mean < std::max(kCoherent * error, least)) {
      return std::nullopt;
    }
  }
  return best;
}

/// Whether neighbours on the circle are as far apart as their lags against the first stage say, up
/// to whole periods.  They are not if the period is wrong or a lag is none.
bool consistent(const DoubleMatrix& means,
                const std::vector<std::uint32_t>& circle,
                const std::vector<double>& folded,
                double period) {
  const std::size_t most = std::min(
      {means.columns / kLagShare, kMostLag, static_cast<std::size_t>(std::ceil(period)) + 2});
  for (std::size_t i = 0; i + 1 < circle.size(); ++i) {
    const double gap = folded[circle[i + 1]] - folded[circle[i]];
    const double seen =
        best_lag(coefficients(means.row(circle[i]), means.row(circle[i + 1]), most), most);
    const double off = (seen - gap) / period;
    if (std::abs(off - std::round(off)) * period > kAgree) {
      return false;
    }
  }
  return true;
}

/// Of a mean stage, in one block.
double block_power(const DoubleMatrix& means) {
  const double power =
      std::inner_product(means.values.begin(), means.values.end(), means.values.begin(), 0.0);
  return power / static_cast<double>(means.rows * kBlocks);
}

/// The cut at the longest pause, if it is longer than any gap between stages.
std::optional<std::size_t> pause_cut(const std::vector<std::uint32_t>& circle,
                                     const std::vector<double>& folded,
                                     double period) {
  double longest = 0.0;
  double second = 0.0;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const double before = i == 0 ? folded[circle.back()] - period : folded[circle[i - 1]];
    const double gap = folded[circle[i]] - before;
    if (gap > longest) {
      second = longest;
      longest = gap;
      cut = i;
    } else {
      second = std::max(second, gap);
    }
  }
  return longest >= kPause * second ? std::optional(cut) : std::nullopt;
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
  // The first period is beyond the first valley, and the shortest peak that is about as high as
  // any: the others are its multiples, which fall on whole samples more or less well.
  std::size_t valley = 1;
  while (valley < most && mean[valley] > 0.0 && mean[valley + 1] < mean[valley]) {
    ++valley;
  }
  double highest = 0.0;
  std::vector<std::size_t> peaks;
  for (std::size_t i = valley + 1; i < most; ++i) {
    if (mean[i] >= mean[i - 1] && mean[i] >= mean[i + 1]) {
      peaks.push_back(i);
      highest = std::max(highest, top_height(mean, i));
    }
  }
  BurstRhythm rhythm;
  for (const std::size_t i : peaks) {
    if (top_height(mean, i) >= kSamePeak * highest) {
      rhythm.period = static_cast<double>(i) + parabola_top(mean[i - 1], mean[i], mean[i + 1]);
      break;
    }
  }
  // Multiples of the period say more exactly how long it is, and whether it goes on: the first peak
  // was chosen for its height, those were not.
  double later = 0.0;
  double count = 0.0;
  for (double multiple = 2.0; multiple <= 4.0 && rhythm.period > 0.0; ++multiple) {
    const auto at = static_cast<std::size_t>(std::lround(multiple * rhythm.period));
    if (at + 2 > most) {
      break;
    }
    const std::size_t top = nearby_top(mean, at);
    rhythm.period =
        (static_cast<double>(top) + parabola_top(mean[top - 1], mean[top], mean[top + 1])) /
        multiple;
    later += top_height(mean, top);
    ++count;
  }
  const auto first = static_cast<std::size_t>(std::lround(rhythm.period));
  double height = first > 0 && first + 1 < most ? top_height(mean, nearby_top(mean, first)) : 0.0;
  height = count > 0.0 ? std::min(height, later / count) : height;
  rhythm.regularity = height / std::max(1.0 - noise_share, 0.05);
  return rhythm;
}

StageOrder order_stages(const DoubleMatrix& means, double period, double noise_share) {
  const std::size_t groups = means.rows;
  std::size_t most = std::min(means.columns / kLagShare, kMostLag);
  period = period > 0.0 ? period : static_cast<double>(most);
  // A double farther away would bring the error of the period with it, several times.
  most = std::min(most, static_cast<std::size_t>(std::ceil(period)) + 2);
  std::vector<double> folded(groups, 0.0);
  for (std::size_t g = 1; g < groups; ++g) {
    const double lag = best_lag(coefficients(means.row(0), means.row(g), most), most);
    folded[g] = lag - std::floor(lag / period) * period;
  }
  std::vector<std::uint32_t> circle(groups);
  std::iota(circle.begin(), circle.end(), 0U);
  std::stable_sort(circle.begin(), circle.end(), [&](std::uint32_t x, std::uint32_t y) {
    return folded[x] < folded[y];
  });
  StageOrder order;
  std::optional<std::size_t> cut = pause_cut(circle, folded, period);
  if (!cut && means.columns > 2 * static_cast<std::size_t>(period) + kBlocks * 20) {
    cut = coherent_cut(gains_of_cuts(means, circle, folded, period), block_power(means));
  }
  order.ambiguous = !cut || !consistent(means, circle, folded, period);
  std::vector<double> lags = folded;
  for (std::size_t i = 0; i < cut.value_or(0); ++i) {
    lags[circle[i]] += period;
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
