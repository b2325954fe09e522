// How alike two groupings of the same things are.
#pragma once

#include <cstdint>
#include <span>

namespace bonescan {

/// Adjusted Rand index: 1 for the same groups under any names, about 0 for chance.  1 if neither
/// grouping tells any pair apart from another (both all alone, or both all together).
/// @paper Hubert and Arabie 1985
/// REQUIRES: a.size() == b.size()
double adjusted_rand_index(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

}  // namespace bonescan
