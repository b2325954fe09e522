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
  for (const Visit& visit : batch.visits) {
    fingerprint_.add(static_cast<std::uint64_t>(visit.pair.index()));
    fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(visit.start)));
    fingerprint_.add(batch.rtts(visit));
    for (const std::uint32_t rtt : batch.rtts(visit)) {
      result_.probes_lost += rtt == kLostRtt ? 1 : 0;
      result_.probes_local_errors += is_local_error(rtt) ? 1 : 0;
    }
  }
  result_.probes_sent += batch.rtt_ns.size();
}

void RunRecorder::updates(Time now, const PipelineUpdates& updates) {
  for (const Verdict& verdict : updates.verdicts) {
    fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(verdict.at)));
    fingerprint_.add(static_cast<std::uint64_t>(verdict.pair.index()));
    fingerprint_.add(static_cast<std::uint64_t>(verdict.kind));
    fingerprint_.add(static_cast<std::uint64_t>(verdict.rule));
  }
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
  for (const Incident& incident : pipeline_.incidents()) {
    fingerprint_.add(incident.id);
    fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(incident.opened)));
    fingerprint_.add(static_cast<std::uint64_t>(incident.layer));
    for (const Candidate& candidate : incident.candidates) {
      fingerprint_.add(telemetry_.components[candidate.component].name);
    }
    for (const PairId pair : incident.pairs) {
      fingerprint_.add(static_cast<std::uint64_t>(pair.index()));
    }
  }
  for (const TruthRow& row : truth) {
    fingerprint_.add(row.component);
    fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(row.time_zero.value_or(Time::max()))));
  }
  const SkeletonSummary skeleton = pipeline_.skeleton();
  result_.complete = true;
  result_.reached = reached;
  result_.fingerprint = fingerprint_.hex();
  result_.wall_s = wall_s;
  result_.rnics = skeleton.rnics;
  result_.pairs_full_mesh = skeleton.pairs_full_mesh;
  result_.pairs_same_rail = skeleton.pairs_same_rail;
  result_.pairs_probed = skeleton.pairs_probed;
  result_.destinations_per_rnic_mean = skeleton.destinations_per_rnic_mean;
  result_.sweep_s = skeleton.sweep_s;
  or_throw(log_.finish(result_, telemetry_.components));
}

}  // namespace bonescan
