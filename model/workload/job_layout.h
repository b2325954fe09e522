// A job in one of its layouts: who sends to whom, in which spans of a step, at which rate.
//
// What an RNIC sends is a sum over its links of rate times time, and there are only three kinds of
// time: all of it, that of bursts, and that of computing.  So everything it sends is three rates
// and three lengths, and RNICs with equal rates, stage and lane are one class: a job of 32,768 has
// a few dozen of them.  Lengths are in whole nanoseconds and additive over spans.
// Thread-compatible.
#pragma once

#include "model/workload/job_rhythm.h"
#include "model/workload/peer_graph.h"
#include "model/workload/step_schedule.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// Bytes a second, by kind of time.
struct TrafficRates {
  double steady = 0.0;   ///< all the time, in evaluations half
  double sync = 0.0;     ///< in bursts
  double compute = 0.0;  ///< while the stage computes

  constexpr auto operator<=>(const TrafficRates&) const = default;
};

/// All that makes the traffic of RNICs alike.
struct TrafficProfile {
  std::uint32_t stage = 0;
  Lane lane = 0;
  bool first_replica = false;  ///< writes checkpoints
  bool takes_part = true;
  TrafficRates rates{};

  constexpr auto operator<=>(const TrafficProfile&) const = default;
};

class JobLayout final {
 public:
  /// `index` counts the layouts of a job.
  JobLayout(const JobOptions& options, const RngStream& steps, std::uint32_t index);

  /// As derived from the model's size.
  const JobOptions& options() const { return options_; }

  const PeerGraph& graph() const { return graph_; }

  const JobRhythm& rhythm() const { return rhythm_; }

  const StageWindows& windows(std::uint32_t stage) const { return stages_[stage]; }

  std::uint32_t stage_count() const { return static_cast<std::uint32_t>(stages_.size()); }

  TrafficRates rates(const PeerLink& link, std::uint32_t stage) const;

  /// Without rates.
  TrafficProfile profile(std::uint32_t rank) const;

  /// What goes to other RNICs in a span; `begin` is the start of step 0.
  double bytes(const TrafficProfile& profile,
               const TrafficRates& rates,
               Time begin,
               TimeSpan within) const;

  /// What goes to storage, which is no RNIC of the fabric.
  double storage_bytes(const TrafficProfile& profile, Time begin, TimeSpan within) const;

  /// The first burst of `stage` that ends after `t`; from Time::max() on if there are none.
  TimeSpan burst_ending_after(std::uint32_t stage, Time t, Time begin) const;

 private:
  StepWindow sync(std::uint32_t stage) const;
  StepWindow compute(std::uint32_t stage) const;
  /// Time of phases within a span.
  struct Pauses {
    Duration evaluated{};
    Duration silent{};
  };

  Pauses pauses(Time begin, TimeSpan within) const;

  JobOptions options_;
  PeerGraph graph_;
  JobRhythm rhythm_;
  std::vector<StageWindows> stages_;
};

}  // namespace bonescan
