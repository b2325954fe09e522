// Everybody to one of k groups of equal size, at the least total cost: exactly.
//
// Intuition: give each its cheapest group first.  Groups that are too full then hand members on,
// each time along the chain of groups by which one more place is bought at the least cost, until no
// group is too full.  A transportation problem: only the k groups are nodes, never the members, so
// it costs what overflows and not the cube of the members that assignment slots cost.
// CORRECTNESS: the first assignment is optimal without capacities, and pushing along a shortest
// path keeps an optimum for the capacities reached (successive shortest paths).
// Complexity: overflow * (k^2 + members of a group * k).
#pragma once

#include "skeleton/matrix.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// Group by member.
/// @paper SkeletonHunter equations 1 and 2: equal sizes, which divide the number of members
/// REQUIRES: costs has a row a member, a column a group; rows are a multiple of columns; all finite
std::vector<std::uint32_t> balanced_assignment(const DoubleMatrix& costs);

}  // namespace bonescan
