// Local outlier factors of several pairs at once.
//
// Intuition: one pair's factor is a few hundred branches on a hundred numbers, which a processor
// does slowly; four pairs with equally long histories take the same steps, so each step becomes
// one vector instruction over four lanes and every branch becomes a select. Invariant: a lane's
// result has the same bits as local_outlier_factor of that lane, for every kernel: same operations
// in the same order, no fused multiply-add. Thread-compatible; a block holds no state between
// calls.
#pragma once

#include "detectors/shortterm/lof.h"
#include "detectors/window/features.h"

#include <array>
#include <cstddef>

namespace bonescan {

/// Pairs per block.
constexpr std::size_t kLofLanes = 4;

using LofLanes = std::array<double, kLofLanes>;

/// Scaled features, lane by lane; a lane that is not used may hold anything.
struct LofBlock {
  alignas(64) std::array<std::array<LofLanes, kFeatureCount>, kMaxHistory> history{};
  alignas(64) std::array<LofLanes, kFeatureCount> query{};
};

enum class LofKernel {
  kPortable,  ///< the baseline instruction set of the build
  kAvx2,
};

bool lof_kernel_available(LofKernel kernel);

/// The fastest kernel that this machine has; never changes a result.
LofKernel best_lof_kernel();

/// LOF per lane; NaN where local_outlier_factor gives no verdict because of a NaN or infinity.
/// REQUIRES: neighbours + 1 <= history_count <= kMaxHistory, neighbours >= 1, an available kernel.
LofLanes local_outlier_factors(const LofBlock& block,
                               std::size_t history_count,
                               const LofOptions& options,
                               LofKernel kernel);

}  // namespace bonescan
