// Groups of equal size that lie as close together as can be: balanced k-means.
//
// Intuition: every stage has the same number of replicas, so an RNIC that fits two stages belongs
// where a place is free.  That is worth more at low signal-to-noise ratios than any distance.
// Each step solves the assignment exactly and moves the centres; what it ends in depends on the
// start, so several are tried (the tree of average linkage, far points, seeded draws) and the least
// sum of squares wins.
// @paper SkeletonHunter equations 1-3.  Equation 3 (no two RNICs of one host in a group) holds by
// construction: points are hosts, or RNICs whose groups are split by rail.
// Complexity: starts * steps * (points * groups * rank + assignment).
#pragma once

#include "skeleton/average_linkage.h"
#include "skeleton/matrix.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

struct Grouping {
  std::vector<std::uint32_t> labels{};  ///< by point
  double within_ss = 0.0;               ///< sum of squared distances to the own centre
};

struct GroupingOptions {
  std::size_t draws = 6;   ///< seeded starts beside the two that need no seed @ours
  std::size_t steps = 30;  ///< bound of a descent @ours
};

/// Centres of groups, a row each.
DoubleMatrix group_centers(const DoubleMatrix& points,
                           const std::vector<std::uint32_t>& labels,
                           std::size_t groups);

/// @param tree  of the same points: average_linkage(points)
/// REQUIRES: groups divides points.rows
Grouping group_stages(const DoubleMatrix& points,
                      const std::vector<Merge>& tree,
                      std::size_t groups,
                      const GroupingOptions& options);

}  // namespace bonescan
