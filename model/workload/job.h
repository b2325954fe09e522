// A training job seen from the network: who talks to whom, and when.
//
// Ranks are laid out tensor-parallel first, then data-parallel, then pipeline (Megatron's order),
// on hosts in a seeded random order.  Two RNICs exchange traffic if they are
//   - neighbouring pipeline stages of one replica: activations and gradients, many times a step, so
//     the flow is never silent for long; or
//   - neighbours in the ring that sums a stage's gradients: one burst per step.
// Step n of stage s bursts at start + n * step_time + s * stage_offset + jitter(n), jitter not
// cumulative, so any burst is found by arithmetic.  Volumes: PP is about a thousandth of DP.
// A job given by a scenario takes whole hosts; a task of the cloud is a job over the RNICs of its
// containers, of which a host may have fewer than it has rails.
// Invariants: 1. nothing is sent before every container is ready, nor after the job has stopped;
// 2. activity is symmetric.
#pragma once

#include "model/fabric/fabric.h"
#include "model/workload/job_options.h"
#include "sim/base/rng_stream.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <utility>
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

  /// Over these RNICs, in the order of ranks; `steps` draws the jitter of its steps.
  /// REQUIRES: tp * pp * dp == gpus == rnics.size(); no RNIC twice.
  Job(const JobOptions& options,
      const Fabric& fabric,
      std::vector<RnicId> rnics,
      const RngStream& steps);

  const JobOptions& options() const { return options_; }

  /// Hosts by position, each once; with whole hosts position p holds ranks
  /// [p * rails, (p + 1) * rails).
  const std::vector<HostId>& hosts() const { return hosts_; }

  /// By rank.
  const std::vector<RnicId>& rnics() const { return rnics_; }

  /// Complexity: logarithmic in the RNICs of the job.
  std::optional<RankCoordinate> coordinate(RnicId rnic) const;

  TrafficKind traffic(RnicId a, RnicId b) const;

  /// The job begins when its last container is ready.
  void set_running_since(Time t) { running_since_ = t; }

  Time running_since() const { return running_since_; }

  /// The job sends nothing from then on.
  void set_running_until(Time t) { running_until_ = t; }

  Time running_until() const { return running_until_; }

  /// Gradient burst of `stage` that is the first to end after `t`.
  TimeSpan burst_ending_after(std::uint32_t stage, Time t) const;

  /// Bytes that each RNIC of `stage` sends in [from, to): its share of the bursts,
  /// boxcar-integrated.
  double bytes_sent(std::uint32_t stage, Time from, Time to) const;

 private:
  TimeSpan burst(std::uint32_t stage, std::int64_t step) const;
  void rank_rnics();

  JobOptions options_;
  const Fabric* fabric_;
  RngStream steps_;
  std::vector<HostId> hosts_;
  std::vector<RnicId> rnics_;                            ///< by rank
  std::vector<std::pair<RnicId, std::uint32_t>> ranks_;  ///< sorted by RNIC
  Time running_since_ = Time::max();
  Time running_until_ = Time::max();
};

}  // namespace bonescan
