// How many random five-tuples see all parallel paths, by the theory of the coupon collector.
//
// k flows that hash to one of N paths each, independently and evenly, miss none of them with
// probability 1 - sum over i of (-1)^(i + 1) C(N, i) (1 - i / N)^k.  The sum alternates and
// cancels, so the same is computed by the number of paths that t flows have hit, flow after flow:
// all terms are positive. Complexity: O(k N).
// @paper R-Pingmesh, SIGCOMM 2024, equation 1 (quoted); P = 0.99 gives 8, 21, 51, 115, 255, 518 for
// 2, 4, 8, 16, 32, 60 paths
#pragma once

#include <cstdint>

namespace bonescan {

/// Probability that `flows` random flows use all of `paths`.  REQUIRES: paths > 0.
double all_paths_covered(std::uint32_t paths, std::uint32_t flows);

/// The least number of flows, `paths` or more, that use all of them with at least `probability`.
/// REQUIRES: paths > 0, 0 <= probability < 1.
std::uint32_t flows_to_cover(std::uint32_t paths, double probability);

}  // namespace bonescan
