// A training job seen from the network: who talks to whom, and when.
//
// Ranks are laid out tensor-parallel first, then data-parallel, then pipeline (Megatron's order),
// on hosts in a seeded random order.  Two RNICs exchange traffic if they are
//   - neighbouring pipeline stages of one replica: activations and gradients, many times a step, so
//     the flow is never silent for long; or
//   - neighbours in the ring that sums a stage's gradients: one burst per step.
// Step n of stage s bursts at start + n * step_time + s * stage_offset + jitter(n), jitter not
// cumulative, so any burst is found by arithmetic.  Volumes: PP is about a thousandth of DP.
// Invariants: 1. nothing is sent before every container is ready; 2. activity is symmetric.
#pragma once

#include "model/fabric/fabric.h"
#include "model/workload/job_options.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

using JobId = StrongId<struct JobTag>;

/// A place in the job's parallel layout.
struct RankCoordinate {
  std::uint32_t tensor = 0;
  std::uint32_t data = 0;
  std::uint32_t pipeline = 0;
};

enum class TrafficKind : std::uint8_t {
  kNone,
  kPipeline,  ///< all the time while the job runs
  kRing,      ///< in the bursts of one stage
};

struct TimeSpan {
  Time from;
  Time to;
};

class Job final {
 public:
  /// Takes the first gpus / rails hosts of `free_hosts` after shuffling them by seed.
  /// REQUIRES: enough free hosts; tp * pp * dp == gpus; gpus a multiple of the rails.
  Job(const JobOptions& options,
      const Fabric& fabric,
      std::vector<HostId> free_hosts,
      JobId id,
      std::uint64_t seed);

  const JobOptions& options() const { return options_; }

  /// Hosts by position; position p holds ranks [p * rails, (p + 1) * rails).
  const std::vector<HostId>& hosts() const { return hosts_; }

  std::optional<RankCoordinate> coordinate(RnicId rnic) const;

  TrafficKind traffic(RnicId a, RnicId b) const;

  /// The job begins when its last container is ready.
  void set_running_since(Time t) { running_since_ = t; }

  Time running_since() const { return running_since_; }

  /// Gradient burst of `stage` that is the first to end after `t`.
  TimeSpan burst_ending_after(std::uint32_t stage, Time t) const;

  /// Bytes that each RNIC of `stage` sends in [from, to): its share of the bursts,
  /// boxcar-integrated.
  double bytes_sent(std::uint32_t stage, Time from, Time to) const;

 private:
  TimeSpan burst(std::uint32_t stage, std::int64_t step) const;

  JobOptions options_;
  const Fabric* fabric_;
  JobId id_;
  std::uint64_t seed_;
  std::vector<HostId> hosts_;
  IdVector<HostId, std::int32_t> position_;  ///< -1: not of this job
  Time running_since_ = Time::max();
};

}  // namespace bonescan
