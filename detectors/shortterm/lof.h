// Local outlier factor of a newest window against a pair's own history.
//
// Intuition: ten remembered windows are points in a seven-dimensional space of RTT features.  The
// factor compares how lonely the newest point is with how lonely its nearest neighbours are among
// themselves: about 1 means "one of them", 8 means "eight times as far out as they are".
//
// Ours, against the traps that were measured (METHODS.md):
// - neighbourhoods include ties (Breunig et al. 2000, Def. 4), so row order never matters;
// - distances have a floor `distance_floor` before the reachability density, so quantised or equal
//   windows give finite densities and LOF <= distance / floor;
// - the newest point is never part of the history (novelty form);
// - a NaN or infinity anywhere gives no verdict (nullopt), not 0 or 1;
// - without a floor, duplicates have an infinite density: a query that equals them gets 1, any
// other
//   query counts at most kMaxDensityRatio for each such neighbour, so a factor is always finite.
// Complexity: O(n^2 d) for n history windows of d features.
#pragma once

#include "detectors/window/features.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace bonescan {

struct LofOptions {
  std::size_t neighbours = 5;    ///< k; a history of k + 1 windows is the least
  double distance_floor = 0.05;  ///< in units of the scaled features; 0 gives Breunig's definition
};

/// Largest history, in windows.
constexpr std::size_t kMaxHistory = 16;

/// Bound on how much denser one neighbour may count than the query.  @ours
constexpr double kMaxDensityRatio = 1e9;

/// LOF of `query` against `history`, all in scaled features.
/// REQUIRES: history.size() <= kMaxHistory, options.neighbours >= 1.
/// @returns nullopt if fewer than neighbours + 1 windows are held (two for k = 1), or on a
/// NaN/infinity
/// @units dimensionless; about 1 is normal, higher is more anomalous
/// @paper Breunig et al. 2000, Def. 5-7; SkeletonHunter gives neither k nor a threshold
/// @ours  k = 5 and the floor, see METHODS.md
std::optional<double> local_outlier_factor(std::span<const FeatureVector> history,
                                           const FeatureVector& query,
                                           const LofOptions& options);

}  // namespace bonescan
