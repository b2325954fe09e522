#include "model/workload/step_schedule.h"

#include "model/workload/model_size.h"

#include <algorithm>

namespace bonescan {
namespace {

/// A backward pass computes twice what a forward pass does.  @paper Narayanan et al. 2021
constexpr double kBackwardOverForward = 2.0;
/// Share of a step in which fully sharded parameters and gradients are on their way. @ours
constexpr double kShardedShare = 0.9;
/// Gathered twice and scattered once, where an all-reduce is one of each.  @paper ZeRO 2020
constexpr double kShardedVolume = 1.5;

bool front_first(const JobOptions& options) {
  if (options.stage_order == StageOrder::kOfSchedule) {
    return options.schedule == PipelineSchedule::kExplicit;
  }
  return options.stage_order == StageOrder::kFrontFirst;
}

void set_windows(const JobOptions& options, std::uint32_t stage, StageWindows& windows) {
  const std::uint32_t last = options.pp - 1;
  windows.sync_length = share_of(options.step_time, options.burst_share);
  if (options.schedule == PipelineSchedule::kExplicit) {
    windows.sync_from = (front_first(options) ? stage : last - stage) * options.stage_offset;
    windows.compute_from = windows.sync_from + windows.sync_length;
    windows.compute_length = options.step_time - windows.sync_length;
    return;
  }
  const std::uint32_t place = front_first(options) ? last - stage : stage;
  windows.sync_from = last_backward(options, place);
  windows.compute_from = place * pass_times(options).forward / pipeline_chunks(options);
  windows.compute_length = windows.sync_from - windows.compute_from;
}

}  // namespace

PassTimes pass_times(const JobOptions& options) {
  const double computing = seconds(options.step_time) * (1.0 - options.burst_share);
  const double passes =
      options.microbatches + (options.pp - 1.0) / static_cast<double>(pipeline_chunks(options));
  const double forward_s = computing / passes / (1.0 + kBackwardOverForward);
  return {from_seconds(forward_s), from_seconds(forward_s * kBackwardOverForward)};
}

Duration last_backward(const JobOptions& options, std::uint32_t stage) {
  const PassTimes pass = pass_times(options);
  const std::int64_t m = options.microbatches;
  const std::int64_t p = options.pp;
  const std::int64_t v = pipeline_chunks(options);
  if (options.schedule == PipelineSchedule::kGpipe) {
    return (p - 1 + m) * pass.forward + (m + p - 1 - stage) * pass.backward;
  }
  return m * (pass.forward + pass.backward) + (p - 1) * (pass.forward + pass.backward) / v -
         stage * pass.backward / v;
}

StageWindows stage_windows(const JobOptions& options, std::uint32_t stage) {
  StageWindows windows;
  set_windows(options, stage, windows);
  if (options.sharding == Sharding::kFull) {
    windows.sync_from = {};
    windows.sync_length = share_of(options.step_time, kShardedShare);
  }
  const StepVolumes volumes = step_volumes(options);
  windows.sync_rate = burst_bytes_per_second(options);
  if (options.sharding == Sharding::kFull) {
    windows.sync_rate = kShardedVolume * volumes.gradients / seconds(windows.sync_length);
  }
  windows.pipeline_rate = volumes.pipeline / seconds(options.step_time);
  const double compute_s = seconds(std::max(windows.compute_length, Duration(1)));
  windows.expert_rate = volumes.experts / compute_s;
  windows.context_rate = volumes.context / compute_s;
  return windows;
}

}  // namespace bonescan
