// Sums over rows that several steps of the inference need, each written once.
//
// The order of the sums is fixed, so equal inputs give equal bits.
#pragma once

#include <span>

namespace bonescan {

/// Sum of products, four numbers at a time.  REQUIRES: equal sizes.
double dot(std::span<const float> a, std::span<const float> b);

/// REQUIRES: equal sizes.
double square_distance(std::span<const double> a, std::span<const double> b);

}  // namespace bonescan
