// How many stages?  As many as explain new data better than fewer do, and no more.
//
// Intuition: more groups always fit the data that they were made from better.  So groups are made
// on one half of the record and judged on the other: the variance inside of groups (per degree of
// freedom) falls while stages are being told apart, and stays where it is once groups only split
// noise.  The fewest groups within reach of the least variance win, and within reach has two
// parts: what chance does to a variance, and an absolute floor, since samplers and replicas are
// never exactly together and that is no pipeline.  A job without stages gets one honest group.
// (Silhouettes, measured, find two.)  Rough model and alternatives: METHODS.md.
// Complexity: rows^2 * columns for the products, then candidates * starts * points * groups * rank.
#pragma once

#include "skeleton/burst_features.h"
#include "skeleton/stage_grouping.h"

#include <cstddef>
#include <vector>

namespace bonescan {

struct StageCount {
  std::size_t groups = 1;
  double shared_power = 0.0;    ///< share of the power that groups explain in new data
  double residual_power = 1.0;  ///< least variance inside of groups
  double sharpness = 0.0;       ///< mean square angular frequency of what groups share, (rad/s)^2
  double step_up = 0.0;  ///< variance of the next smaller candidate above what was in reach, in
                         ///< units of that reach; large: fewer groups are out of the question
};

struct StageCountOptions {
  std::size_t most_groups = 64;  ///< pipelines are not longer @ours
  std::size_t rank = 20;         ///< principal directions @ours
  double chance = 4.0;           ///< standard deviations of a variance that are chance @ours
  double lag_spread_s = 0.1;     ///< spread of bursts that is no pipeline @ours
};

/// Divisors of `count` that can be a number of stages: at least two members a stage.
/// @paper SkeletonHunter equation 2
std::vector<std::size_t> possible_stage_counts(std::size_t count, std::size_t most);

/// REQUIRES: both halves have frames
/// @param samples  of the record
StageCount count_stages(const BurstFeatures& features,
                        std::size_t samples,
                        const StageCountOptions& options);

/// Groups of the whole record, and what the distances between its rows look like.
struct StageGroups {
  Grouping grouping{};
  DoubleMatrix coordinates{};  ///< of units, principal
};

StageGroups final_groups(const BurstFeatures& features,
                         std::size_t groups,
                         const StageCountOptions& options);

}  // namespace bonescan
