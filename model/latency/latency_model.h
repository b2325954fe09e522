// The RTT of one probe, given what its path is like.
//
//   rtt = (endpoints + links + delays) * exp(sigma * z)       jitter, z standard normal
//         + Exp(mean queue)                                   load and congestion
//         + a spike, for a spike_ratio of probes              scheduling (spike_tail.h)
//         + lookups on the software path and upcalls          deterministic
//         + serialization and waits at loaded links           path_load.h; LoadModel::kLinks only
//
// One row of random bits (four words) per probe: word 0 jitter, 1 loss, 2 spike, 3 queue.
#pragma once

#include "model/fabric/fabric.h"
#include "model/latency/latency_model_options.h"
#include "sim/base/quantile_table.h"
#include "sim/base/rng_stream.h"

#include <cstdint>

namespace bonescan {

/// The word that draws queueing.
constexpr std::size_t kQueueWord = 3;

class LatencyModel final {
 public:
  explicit LatencyModel(const LatencyModelOptions& options);

  const LatencyModelOptions& options() const { return options_; }

  /// Both ways over these links, without jitter, load or faults.
  Duration base_rtt(const LinkPath& request, const LinkPath& answer) const;

  /// Nanoseconds; `fixed_ns` is base and delays, `extra_ns` the lookups, and serialization and
  /// waits where links have a load. REQUIRES: the result fits in 32 bits with room for the two
  /// outcomes (under 4.29 s).
  std::uint32_t sample_ns(const PhiloxCounter& bits,
                          double fixed_ns,
                          double queue_mean_ns,
                          double extra_ns) const {
    double rtt = fixed_ns * jitter_(bits[0]) + extra_ns;
    rtt += queue_mean_ns * unit_exponential_(bits[kQueueWord]);
    if (bits[2] < spike_below_) [[unlikely]] {
      rtt += spike_ns(bits[2]);
    }
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): positive and far below 2^52.
    return static_cast<std::uint32_t>(rtt + 0.5);
  }

  /// Expectation of sample_ns.
  double mean_ns(double fixed_ns, double queue_mean_ns, double extra_ns) const;

 private:
  double spike_ns(std::uint32_t bits) const;

  LatencyModelOptions options_;
  QuantileTable jitter_;
  QuantileTable unit_exponential_;
  std::uint32_t spike_below_ = 0;
};

}  // namespace bonescan
