// When the steps of a job are: any step's start, jitter and pauses by arithmetic.
//
// Step n starts at n x step time, plus the pauses before it (checkpoints, storage, evaluations).
// Around that start it jitters, the whole job alike; a host may lag behind it, by a lag of its own
// that stays, one that is new in every step, and one that was ordered (a straggler).  A job that
// does not train has slots instead of steps: in some of them there is a burst, anywhere in it.
// Every draw is a row of one stream: bits 0-31 are the step, 32-39 the layout, 40-63 the lane, so
// nothing depends on what was asked before.  Thread-compatible.
#pragma once

#include "model/workload/job_options.h"
#include "model/workload/traffic_kind.h"
#include "sim/base/rng_stream.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace bonescan {

/// Those whose bursts move together: 0 follows the job; others add lags or draws of their own.
using Lane = std::uint32_t;

/// Within a step.
struct StepWindow {
  Duration from{};
  Duration length{};
};

class JobRhythm final {
 public:
  JobRhythm(const JobOptions& options, const RngStream& steps, std::uint32_t layout_index);

  bool regular() const { return options_.workload == Workload::kTraining; }

  /// From the start of step 0.
  Duration step_start(std::int64_t step) const;

  /// The last step that starts at or before `since`; negative before the first one.
  std::int64_t step_at(Duration since) const;

  /// The window of `step`, as spans from the start of step 0; `begin` is that start in the run.
  /// Empty if an irregular job does nothing in it.
  std::optional<TimeSpan> window(const StepWindow& in_step,
                                 std::int64_t step,
                                 Lane lane,
                                 Time begin) const;

  /// How long, within [from, to), the windows of all steps last together.
  Duration overlap(const StepWindow& in_step, Lane lane, Time begin, TimeSpan within) const;

  /// Is there a phase in which nobody trains?
  bool falls_silent() const;

  /// How long, within a span, phase `index` of the options lasts.
  Duration paused(std::size_t index, Time begin, TimeSpan within) const;

  /// A stretch without silence: the first that ends after `t`, from some moment in it on that is
  /// not after `t` if `t` is in it.
  TimeSpan busy_ending_after(Time t, Time begin) const;

  /// Where the lag of the host that holds `container` comes from; 0 if it has none.
  Lane lane_of(std::uint32_t container, std::uint32_t replica) const;

 private:
  double draw(std::int64_t step, Lane lane) const;
  Duration lag(std::int64_t step, Lane lane, Time begin) const;
  Duration longest_lag() const;
  enum class Pause : std::uint8_t {
    kAny,
    kSilent,  ///< nobody trains
  };

  /// Between `step` and the one before it.
  Duration pause_before(std::int64_t step, Pause which) const;

  JobOptions options_;
  RngStream steps_;
  std::uint64_t layout_;
};

}  // namespace bonescan
