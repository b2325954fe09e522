#include "skeleton/skeleton_confidence.h"

#include "skeleton/stage_grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

/// Worth of a nat of measured likelihood. @ours
constexpr double kTemper = 0.5;
/// Lags differ by that much for reasons other than noise, samples. @ours
constexpr double kLagFloor = 0.06;
/// Nats for every reach that fewer stages are worse. @ours
constexpr double kCountNats = 4.0;
/// Doubt that is never dispelled: models are wrong in ways that margins do not show. @ours
constexpr double kDoubt = 0.002;
/// Bounds of what a job with regular bursts looks like. @ours
constexpr double kLeastShared = 0.08;
constexpr double kLeastRegularity = 0.3;
constexpr double kShortestPeriod = 2.7;
constexpr double kMostQuietVolume = 0.06;

/// Members burst together, and are quiet in between.
bool bursts_account(const BurstEvidence& evidence) {
  return evidence.shared_power >= kLeastShared && evidence.quiet_volume <= kMostQuietVolume;
}

bool has_rhythm(const BurstEvidence& evidence) {
  return evidence.regularity >= kLeastRegularity && evidence.period >= kShortestPeriod;
}

double upper_tail(double z) {
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

/// Variance of coordinates inside of groups, per degree of freedom.
std::vector<double> inside_variance(const DoubleMatrix& points,
                                    const std::vector<std::uint32_t>& labels,
                                    const DoubleMatrix& centers) {
  std::vector<double> variance(points.columns, 0.0);
  const double freedom = static_cast<double>(points.rows - centers.rows);
  for (std::size_t i = 0; i < points.rows; ++i) {
    for (std::size_t d = 0; d < points.columns; ++d) {
      const double residual = points.row(i)[d] - centers.row(labels[i])[d];
      variance[d] += residual * residual / freedom;
    }
  }
  return variance;
}

}  // namespace

double expected_exchanges(const StageGroups& groups, std::size_t group_count) {
  const DoubleMatrix& points = groups.coordinates;
  const std::vector<std::uint32_t>& labels = groups.grouping.labels;
  const DoubleMatrix centers = group_centers(points, labels, group_count);
  const std::vector<double> variance = inside_variance(points, labels, centers);
  const double size = static_cast<double>(points.rows) / static_cast<double>(group_count);
  // The centre of a group without the member itself is farther from it.
  const double stretch = size / (size - 1.0);
  // By (own, other): sum over own members of exp(-what moving to the other costs).
  DoubleMatrix weights(group_count, group_count);
  for (std::size_t i = 0; i < points.rows; ++i) {
    const std::size_t own = labels[i];
    for (std::size_t other = 0; other < group_count; ++other) {
      if (other == own) {
        continue;
      }
      double apart = 0.0;
      double noise = 0.0;
      double cost = 0.0;
      for (std::size_t d = 0; d < points.columns; ++d) {
        const double axis = centers.row(other)[d] - centers.row(own)[d];
        const double residual = (points.row(i)[d] - centers.row(own)[d]) * stretch;
        apart += axis * axis;
        noise += axis * axis * variance[d];
        cost += axis * (axis - 2.0 * residual);
      }
      // |x - other|^2 - |x - own|^2 over twice the variance along the axis.
      const double along = apart > 0.0 ? noise / apart : 0.0;
      const double nats = along > 0.0 ? cost / (2.0 * along) : (cost > 0.0 ? 1e3 : 0.0);
      weights.row(own)[other] += std::exp(-kTemper * std::clamp(nats, -1e3, 1e3));
    }
  }
  double expected = 0.0;
  for (std::size_t a = 0; a < group_count; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      expected += weights.row(a)[b] * weights.row(b)[a];
    }
  }
  return expected;
}

StageCertainty stage_certainty(const StageGroups& groups,
                               const StageCount& count,
                               const StageOrder& order) {
  StageCertainty certainty;
  certainty.labels = std::exp(-expected_exchanges(groups, count.groups));
  certainty.count = 1.0 - std::exp(-kCountNats * std::max(count.step_up - 1.0, 0.0));
  const double sd = std::hypot(order.lag_sd, kLagFloor);
  const double wrong = static_cast<double>(count.groups - 1) * upper_tail(order.smallest_gap / sd);
  certainty.order = order.ambiguous ? 0.0 : std::exp(-wrong) * (1.0 - kDoubt);
  return certainty;
}

bool rhythm_alone_missing(const BurstEvidence& evidence) {
  return bursts_account(evidence) && !has_rhythm(evidence);
}

double rail_certainty(const BurstEvidence& evidence) {
  return bursts_account(evidence) && has_rhythm(evidence) ? 1.0 - kDoubt : 0.0;
}

std::string why_not_same_rail(const BurstEvidence& evidence, double period_s) {
  if (evidence.shared_power < kLeastShared) {
    return "no bursts that members share are seen";
  }
  if (evidence.quiet_volume > kMostQuietVolume) {
    return fmt::format("{:.0f} % of the mean rate goes by between bursts, and nobody knows to whom",
                       100.0 * evidence.quiet_volume);
  }
  if (evidence.regularity >= kLeastRegularity) {
    return fmt::format("bursts come faster than sampling every {:.3g} s can follow", period_s);
  }
  return fmt::format("bursts are not regular ({:.2f} of one is found again in the next)",
                     std::clamp(evidence.regularity, 0.0, 1.0));
}

}  // namespace bonescan
