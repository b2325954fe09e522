// Writes a run down while it goes: what the loop does into run.sqlite, its sums and its
// fingerprint.
//
// Simulated, replayed and live runs are recorded by this one class, so that their directories are
// alike and a recorded run can be analysed again.
#pragma once

#include "detectors/pipeline/pipeline.h"
#include "detectors/pipeline/run_loop.h"
#include "detectors/run_log/run_log.h"
#include "tools/run/run_session.h"
#include "tools/run/run_sums.h"

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bonescan {

/// @throws EnvironmentError instead of an error value
template <class T>
T or_throw(Expected<T> result) {
  if (!result) {
    throw EnvironmentError(result.error().detail);
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

/// What is the same for every kind of run: the build, the probe schedule, the detection options.
RunInfo describe_run(const PipelineOptions& options, std::string command);

class RunRecorder final {
 public:
  /// REQUIRES: all outlive the recorder.
  RunRecorder(RunLogWriter& log, Pipeline& pipeline, const Telemetry& telemetry)
      : log_(log), pipeline_(pipeline), telemetry_(telemetry) {}

  /// Hooks that record everything; commits when a window has closed.
  /// @throws EnvironmentError out of the loop, if the log cannot be written
  RunLoopHooks hooks();

  void flush(Time now);
  void finish(Time reached, double wall_s, const std::vector<TruthRow>& truth);

  /// Sums so far.
  const RunResult& result() const { return sums_.result(); }

  std::function<void()> before_flush;

 private:
  void observed(Time now, const ProbeBatch& batch);
  void updates(Time now, const PipelineUpdates& updates);

  RunLogWriter& log_;
  Pipeline& pipeline_;
  Telemetry telemetry_;
  RunSums sums_;
};

}  // namespace bonescan
