// What happens to reports between the agents and whoever analyses them.  All numbers are ours.
#pragma once

#include "sim/base/units.h"

namespace bonescan {

/// Shares are of reports of visits, throughput samples and membership events alike.
struct TelemetryChannelOptions {
  double lost = 0.0;
  double late = 0.0;
  Duration late_by = std::chrono::seconds(2);  ///< at most; uniform
  double duplicated = 0.0;                     ///< a second copy, late by as much
  Duration repeat = std::chrono::seconds(5);   ///< a lost event is announced again after this
  Duration sampler_phase{};   ///< samplers are up to this much after the full second, each its own
  Duration sampler_jitter{};  ///< standard deviation of the moment of one sample
  double sampler_missed = 0.0;  ///< samples not taken: the counter's next reading covers them
  Duration sampler_period = std::chrono::seconds(1);
  Duration sampler_dither{};    ///< readings are moved on purpose, uniformly over this
  double sampler_noise = 0.02;  ///< log-normal sigma of one sample around the true volume
  BitsPerSecond background{0};  ///< sd, second by second, of what goes on besides the job

  bool rdma_counters = false;  ///< hosts tell what their RNICs' RDMA counters counted

  bool perfect() const { return lost == 0.0 && late == 0.0 && duplicated == 0.0; }

  bool aligned() const {
    return sampler_phase == Duration::zero() && sampler_jitter == Duration::zero() &&
           sampler_missed == 0.0 && sampler_dither == Duration::zero();
  }
};

}  // namespace bonescan
