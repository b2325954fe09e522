// When, within a step, a stage of the pipeline computes and when it sums its gradients.
//
// With f and b the times of a forward and a backward pass of one micro-batch (b = 2 f), m
// micro-batches and p stages, stage s is done with its last backward pass at
//   GPipe        (p - 1 + m) f + (m + p - 1 - s) b        all forward passes first
//   1F1B         (m + p - 1) (f + b) - s b
//   interleaved  (m + (p - 1) / v) (f + b) - s b / v      v chunks of the model on every stage
// since the last micro-batch flows back from the last stage to the first.  So in all three the LAST
// stage bursts first, one b (or b / v) before the stage in front of it; the paper is read as saying
// that the front stage does.  `stage_order` turns the order round, and an explicit offset needs no
// schedule at all.  A step is as long as the first stage takes, and its burst.
// @paper Huang et al. 2019; Narayanan et al. 2019, 2021
#pragma once

#include "model/workload/job_options.h"

#include <cstdint>

namespace bonescan {

/// Spans within a step, from its nominal start, and what is sent in them by an RNIC with share 1.
struct StageWindows {
  Duration sync_from{};
  Duration sync_length{};
  Duration compute_from{};
  Duration compute_length{};
  double sync_rate = 0.0;      ///< bytes a second, of gradients, in the burst
  double pipeline_rate = 0.0;  ///< to a neighbour, in the mean over a step
  double expert_rate = 0.0;    ///< while the stage computes
  double context_rate = 0.0;   ///< likewise
};

/// @units of one forward pass of a micro-batch on a stage
struct PassTimes {
  Duration forward{};
  Duration backward{};
};

PassTimes pass_times(const JobOptions& options);

/// End of the stage's last backward pass.  REQUIRES: the schedule is not explicit.
Duration last_backward(const JobOptions& options, std::uint32_t stage);

/// `options` are derived ones.  REQUIRES: stage < pp
StageWindows stage_windows(const JobOptions& options, std::uint32_t stage);

}  // namespace bonescan
