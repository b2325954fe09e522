// The loop that drives a pipeline over any telemetry, simulated, recorded or live.
//
// One turn per visit period, at T = 0, visit, 2 visit, ...:
//   T            membership and throughput are read, the visits of [T, T + visit) are planned
//   T + timeout  the visits of the turn before are complete: observed, windows closed, localized
// so a lost probe is acted on at most visit + timeout after it was sent.
// What was collected goes through a TelemetryIntake, so the pipeline sees each visit once and those
// of a source in order; the hooks are told what came in, as it came.
#pragma once

#include "detectors/intake/telemetry_intake.h"
#include "detectors/pipeline/pipeline.h"

#include <functional>
#include <span>
#include <vector>

namespace bonescan {

/// Called by the loop so that a run can be recorded, shown and stopped; all may be empty.
struct RunLoopHooks {
  /// Called before each half of a turn: a live driver sleeps there until `until` has come.
  std::function<void(Time until)> wait;
  /// Every turn, also without events.
  std::function<void(Time now, std::span<const MembershipEvent>)> membership;
  std::function<void(std::span<const ThroughputSample>)> throughput;
  std::function<void(Time now, const ProbeBatch&)> observed;
  std::function<void(Time now, const TelemetryIntake&)> intake;  ///< what is missing, and whose
  std::function<void(Time now, const PipelineUpdates&)> updates;
  std::function<bool(Time now)> stop;  ///< true ends the run after this turn
};

/// Runs until `end`; returns the time that was reached.
Time run_loop(Pipeline& pipeline,
              const Telemetry& telemetry,
              const ProbingOptions& probing,
              Time end,
              const RunLoopHooks& hooks);

}  // namespace bonescan
