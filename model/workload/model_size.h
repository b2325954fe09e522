// What the size of a model says about a step: how long it is, and how much goes over the network.
//
// Per RNIC and step, with P parameters, s tokens a sequence, h hidden units, B sequences a step:
//   step       6 P B s / (GPUs x peak x MFU)   (Kaplan et al. 2020; Chowdhery et al. 2022)
//   gradients  S = 2 P / (tp pp) bytes in bf16, of which a ring sends 2 (n - 1) / n
//   pipeline   2 B s h / (dp cp tp) bytes to each neighbour   (Narayanan et al. 2021)
//   experts    4 all-to-alls a layer, 2 B s h k / (dp cp tp) bytes each, of which the part that
//              stays at home is left out   (Lepikhin et al. 2020)
//   context    keys and values go round once forward and twice backward   (Liu et al. 2023)
// GPT-3 with tp = pp = 8 has S = 5.47 GB and 6.3 MB a micro-batch between stages: what Alibaba HPN
// (SIGCOMM 2024) reports as 5.5 GB and 6 MB.
#pragma once

#include "model/workload/job_options.h"

namespace bonescan {

/// Longest burst, as a share of the step: it must end before the next one begins. @ours
inline constexpr double kLongestBurst = 0.9;

/// Bytes that an RNIC sends in a step.
struct StepVolumes {
  double gradients = 0.0;  ///< of an all-reduce round a ring
  double pipeline = 0.0;   ///< to one neighbour, of one chunk
  double experts = 0.0;
  double context = 0.0;
};

/// `options` with step time and share of the bursts as the model's size says; as they are if none
/// is given.
JobOptions derived(JobOptions options);

/// `options` are derived ones.
StepVolumes step_volumes(const JobOptions& options);

/// Rate of gradients in a burst, bytes a second.
double burst_bytes_per_second(const JobOptions& options);

}  // namespace bonescan
