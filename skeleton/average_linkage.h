// Agglomerative clustering of points: who is merged with whom, from the closest pair upwards.
//
// Intuition: bad starts, not bad sums, spoil k-means.  Merging the two closest clusters again and
// again needs no start.  Its clusters have any size, so it is the start and not the answer.
// Chains of nearest neighbours find the same tree as the textbook's search for the closest pair, as
// long as merging never brings clusters closer (average linkage does not).
// @paper SkeletonHunter clusters hierarchically; its linkage is not published @ours average
// Complexity: points^2.
#pragma once

#include "skeleton/matrix.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

/// Clusters are named by one of their points.
struct Merge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;  ///< joins a
  double height = 0.0;  ///< mean distance between the points of the two
};

/// points - 1 merges, the lowest first.
std::vector<Merge> average_linkage(const DoubleMatrix& points);

/// Cluster by point, 0 ... count - 1 in the order of first appearance.
/// REQUIRES: 1 <= count <= points
std::vector<std::uint32_t> cut(const std::vector<Merge>& tree, std::size_t count);

}  // namespace bonescan
