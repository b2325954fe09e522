#include "tools/run/run_recorder.h"

#include "tools/run/build_info.h"

namespace bonescan {

RunInfo describe_run(const PipelineOptions& options, std::string command) {
  BuildInfo build = build_info();
  RunInfo info;
  info.version = std::move(build.version);
  info.commit = std::move(build.commit);
  info.compiler = std::move(build.compiler);
  info.preset = std::move(build.preset);
  info.command = std::move(command);
  info.visit = options.probing.visit;
  info.timeout = options.probing.timeout;
  info.window = options.window.length;
  info.probes_per_visit = options.probing.probes_per_visit;
  info.pipeline_options =
      options.configuration == DetectionConfiguration::kPaper ? "paper" : "bonescan";
  return info;
}

RunLoopHooks RunRecorder::hooks() {
  RunLoopHooks hooks;
  hooks.membership = [this](Time now, std::span<const MembershipEvent> events) {
    log_.endpoints(telemetry_.endpoints);
    log_.membership(now, events);
  };
  hooks.throughput = [this](std::span<const ThroughputSample> samples) {
    log_.throughput(samples);
  };
  hooks.observed = [this](Time now, const ProbeBatch& batch) { observed(now, batch); };
  hooks.updates = [this](Time now, const PipelineUpdates& news) { updates(now, news); };
  return hooks;
}

void RunRecorder::observed(Time now, const ProbeBatch& batch) {
  log_.observed(now, batch);
  sums_.observed(batch);
}

void RunRecorder::updates(Time now, const PipelineUpdates& updates) {
  sums_.verdicts(updates);
  log_.updates(updates, pipeline_.incidents(), pipeline_.pairs());
  if (!updates.windows.empty()) {
    flush(now);
  }
}

void RunRecorder::flush(Time now) {
  if (before_flush) {
    before_flush();
  }
  or_throw(log_.flush(now, telemetry_.components));
}

void RunRecorder::finish(Time reached, double wall_s, const std::vector<TruthRow>& truth) {
  const RunResult result = sums_.finish(pipeline_, telemetry_.components, truth, reached, wall_s);
  or_throw(log_.finish(result, telemetry_.components));
}

}  // namespace bonescan
