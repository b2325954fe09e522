// Parameters of the RTT of a probe.  All of them are ours unless marked.
#pragma once

#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

/// How sizes of scheduling spikes are spread (spike_tail.h).
enum class SpikeTail : std::uint8_t {
  kExponential,
  kPareto,
  kLognormal,
};

struct LatencyModelOptions {
  /// Prober and responder RNIC together.  With two access links a healthy RTT below one ToR is near
  /// 12 us.
  Duration endpoints = std::chrono::nanoseconds(9'600);
  Duration access_link =
      std::chrono::nanoseconds(600);  ///< one access link and its switch port, one way
  Duration fabric_link = std::chrono::nanoseconds(750);  ///< one ToR-aggregation link, one way
  double jitter_sigma = 0.04;                            ///< log-normal sigma of the whole RTT
  double spike_ratio = 1e-3;  ///< share of probes that meet a scheduling spike
  Duration spike_mean = std::chrono::microseconds(20);
  SpikeTail spike_tail = SpikeTail::kExponential;
  double spike_shape = 1.5;  ///< exponent of a Pareto tail, sigma of a log-normal one
  Duration spike_bound = std::chrono::milliseconds(10);  ///< of the heavy tails: none is longer
  Duration load_queue_mean =
      std::chrono::microseconds(2);  ///< mean queueing at full load of the job's burst
  double base_loss_ratio = 2e-6;     ///< per probe, both ways together
};

}  // namespace bonescan
