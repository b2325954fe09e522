#include "skeleton/stage_grouping.h"

#include "sim/base/check.h"
#include "sim/base/rng_stream.h"
#include "skeleton/balanced_assignment.h"
#include "skeleton/row_math.h"

#include <algorithm>
#include <limits>

namespace bonescan {
namespace {

Grouping descend(const DoubleMatrix& points, DoubleMatrix centers, const GroupingOptions& options) {
  Grouping best;
  best.within_ss = std::numeric_limits<double>::infinity();
  DoubleMatrix costs(points.rows, centers.rows);
  for (std::size_t step = 0; step < options.steps; ++step) {
    for (std::size_t i = 0; i < points.rows; ++i) {
      for (std::size_t g = 0; g < centers.rows; ++g) {
        costs.row(i)[g] = square_distance(points.row(i), centers.row(g));
      }
    }
    std::vector<std::uint32_t> labels = balanced_assignment(costs);
    if (labels == best.labels) {
      break;
    }
    centers = group_centers(points, labels, centers.rows);
    double within_ss = 0.0;
    for (std::size_t i = 0; i < points.rows; ++i) {
      within_ss += square_distance(points.row(i), centers.row(labels[i]));
    }
    if (within_ss >= best.within_ss) {
      break;
    }
    best = {std::move(labels), within_ss};
  }
  return best;
}

/// Every further centre is a point far from those that are there: the farthest, or (k-means++)
/// drawn with a chance that grows with the square of its distance.
DoubleMatrix spread_centers(const DoubleMatrix& points, std::size_t groups, std::size_t draw) {
  const RngStream stream(draw, Purpose::kSkeletonStart, static_cast<std::uint32_t>(groups));
  std::vector<double> nearest(points.rows, std::numeric_limits<double>::infinity());
  DoubleMatrix centers(groups, points.columns);
  std::size_t chosen = draw == 0 ? 0 : stream.at(0) % points.rows;
  for (std::size_t g = 0; g < groups; ++g) {
    std::copy(points.row(chosen).begin(), points.row(chosen).end(), centers.row(g).begin());
    double total = 0.0;
    for (std::size_t i = 0; i < points.rows; ++i) {
      nearest[i] = std::min(nearest[i], square_distance(points.row(i), centers.row(g)));
      total += nearest[i];
    }
    if (draw == 0) {
      chosen = static_cast<std::size_t>(std::max_element(nearest.begin(), nearest.end()) -
                                        nearest.begin());
      continue;
    }
    double left = stream.open01_at(g + 1) * total;
    chosen = 0;
    while (chosen + 1 < points.rows && left > nearest[chosen]) {
      left -= nearest[chosen];
      ++chosen;
    }
  }
  return centers;
}

}  // namespace

DoubleMatrix group_centers(const DoubleMatrix& points,
                           const std::vector<std::uint32_t>& labels,
                           std::size_t groups) {
  DoubleMatrix centers(groups, points.columns);
  std::vector<double> counts(groups, 0.0);
  for (std::size_t i = 0; i < points.rows; ++i) {
    counts[labels[i]] += 1.0;
    for (std::size_t d = 0; d < points.columns; ++d) {
      centers.row(labels[i])[d] += points.row(i)[d];
    }
  }
  for (std::size_t g = 0; g < groups; ++g) {
    for (double& x : centers.row(g)) {
      x /= std::max(counts[g], 1.0);
    }
  }
  return centers;
}

Grouping group_stages(const DoubleMatrix& points,
                      const std::vector<Merge>& tree,
                      std::size_t groups,
                      const GroupingOptions& options) {
  BONESCAN_CHECK(groups > 0 && points.rows % groups == 0);
  Grouping best = descend(points, group_centers(points, cut(tree, groups), groups), options);
  for (std::size_t draw = 0; draw <= options.draws && groups > 1; ++draw) {
    Grouping other = descend(points, spread_centers(points, groups, draw), options);
    if (other.within_ss < best.within_ss) {
      best = std::move(other);
    }
  }
  return best;
}

}  // namespace bonescan
