#include "tools/run/run_session.h"

#include "detectors/backend_replay/replay_backend.h"
#include "detectors/pipeline/run_loop.h"
#include "scenarios/schema/load_scenario.h"
#include "sim/base/check.h"
#include "sim/base/fingerprint.h"
#include "tools/run/build_info.h"
#include "tools/run/packet_capture.h"
#include "tools/run/run_files.h"
#include "tools/run/simulation.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

namespace bonescan {
namespace {

using WallClock = std::chrono::steady_clock;

constexpr auto kProgressPeriod = std::chrono::milliseconds(100);

template <class T>
T or_throw(Expected<T> result) {
  if (!result) {
    throw EnvironmentError(result.error().detail);
  }
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

RunInfo describe(const Scenario& scenario, const RunSessionOptions& options, std::string mode) {
  const BuildInfo build = build_info();
  const ProbingOptions& probing = scenario.pipeline.probing;
  return {.mode = std::move(mode),
          .scenario_name = scenario.name,
          .scenario_hash = scenario.hash,
          .scenario_text = scenario.text,
          .seed = scenario.seed,
          .version = build.version,
          .commit = build.commit,
          .compiler = build.compiler,
          .preset = build.preset,
          .command = options.command,
          .planned = scenario.duration,
          .visit = probing.visit,
          .timeout = probing.timeout,
          .window = scenario.pipeline.window.length,
          .probes_per_visit = probing.probes_per_visit,
          .pipeline_options = scenario.pipeline.configuration == DetectionConfiguration::kPaper
                                  ? "paper"
                                  : "bonescan"};
}

/// Records everything the loop does and keeps the run's sums and fingerprint.
class Recorder {
 public:
  Recorder(RunLogWriter& log, Pipeline& pipeline, const Telemetry& telemetry)
      : log_(log), pipeline_(pipeline), telemetry_(telemetry) {}

  void observed(Time now, const ProbeBatch& batch) {
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

  /// Commits when a window has closed.
  void updates(Time now, const PipelineUpdates& updates) {
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

  void flush(Time now) {
    if (before_flush) {
      before_flush();
    }
    or_throw(log_.flush(now, telemetry_.components));
  }

  void finish(Time reached, double wall_s, const std::vector<TruthRow>& truth) {
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
      fingerprint_.add(
          static_cast<std::uint64_t>(nanoseconds(row.time_zero.value_or(Time::max()))));
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

  std::function<void()> before_flush;

 private:
  RunLogWriter& log_;
  Pipeline& pipeline_;
  Telemetry telemetry_;
  Fingerprint fingerprint_;
  RunResult result_;
};

RunLoopHooks make_hooks(Recorder& recorder, RunLogWriter& log, const RunSessionOptions& options) {
  RunLoopHooks hooks;
  hooks.membership = [&log](Time now, std::span<const MembershipEvent> events) {
    log.membership(now, events);
  };
  hooks.throughput = [&log](std::span<const ThroughputSample> samples) { log.throughput(samples); };
  hooks.observed = [&recorder](Time now, const ProbeBatch& batch) {
    recorder.observed(now, batch);
  };
  hooks.updates = [&recorder](Time now, const PipelineUpdates& updates) {
    recorder.updates(now, updates);
  };
  if (options.progress) {
    hooks.stop = [&options, last = WallClock::time_point()](Time now) mutable {
      const auto wall = WallClock::now();
      if (wall - last >= kProgressPeriod) {
        last = wall;
        options.progress(now);
      }
      return false;
    };
  }
  return hooks;
}

/// @throws ConfigError if the scenario or the options do not suit the packet mode
void check_packet_mode(const Scenario& scenario, const RunSessionOptions& options) {
  const std::uint32_t hosts = scenario.fabric.segments * scenario.fabric.hosts_per_segment;
  if (options.packets && hosts > kPacketModeMaxHosts) {
    throw ConfigError(
        fmt::format("--fidelity packet: expected at most {} hosts; found {}; hint: use --fidelity "
                    "fast, or fewer segments or hosts per segment",
                    kPacketModeMaxHosts,
                    hosts));
  }
  if (!options.packets && !options.pcap_file.empty()) {
    throw ConfigError("--pcap: expected --fidelity packet; found fast, which has no packets");
  }
}

/// Null without a capture file.
std::unique_ptr<PacketCapture> start_capture(Simulation& simulation,
                                             const RunSessionOptions& options) {
  PacketProbes* probes = simulation.backend().packet_probes();
  if (options.pcap_file.empty() || probes == nullptr) {
    return nullptr;
  }
  auto capture =
      or_throw(PacketCapture::create(options.pcap_file, simulation.world(), options.pcap_packets));
  probes->network().set_tap(capture->tap());
  return capture;
}

RunData load_finished(const std::string& file) {
  return or_throw(load_run(file));
}

struct CheckSubject {
  const Simulation* simulation;
  const Scenario* scenario;
  const std::string* command;
};

std::string describe_check(const void* subject) {
  const auto& run = *static_cast<const CheckSubject*>(subject);
  return fmt::format("simulated time {:.6f} s, seed {}; replay with: {}",
                     seconds(const_cast<Simulation*>(run.simulation)->engine().now()),
                     run.scenario->seed,
                     *run.command);
}

}  // namespace

std::string claim_run_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw EnvironmentError(
        fmt::format("{}: cannot make this directory: {}", directory, error.message()));
  }
  const std::string file = (std::filesystem::path(directory) / "run.sqlite").string();
  if (std::filesystem::exists(file)) {
    throw EnvironmentError(fmt::format(
        "{}: already holds a run; give another --out or remove the directory", directory));
  }
  return file;
}

RunData run_scenario(const Scenario& scenario, const RunSessionOptions& options) {
  const auto wall_start = WallClock::now();
  check_packet_mode(scenario, options);
  const std::string file = claim_run_directory(options.directory);
  Simulation simulation(
      scenario,
      {.evaluation =
           options.one_event_per_probe ? ProbeEvaluation::kEventPerProbe : ProbeEvaluation::kBatch,
       .threads = options.threads,
       .packets = options.packets ? std::optional(PacketModeOptions{}) : std::nullopt});
  const auto capture = start_capture(simulation, options);
  const CheckSubject subject{&simulation, &scenario, &options.command};
  const ScopedCheckContext context(&describe_check, &subject);
  RunInfo info = describe(scenario, options, "sim");
  info.truth_available = true;
  const auto log =
      or_throw(RunLogWriter::create(file, info, simulation.backend().endpoints().directory()));
  write_manifest(options.directory, info, {});
  const Telemetry telemetry = log->recording(simulation.backend().telemetry());
  Pipeline pipeline(scenario.pipeline, telemetry);
  simulation.learn_paths(pipeline.pairs());
  Recorder recorder(*log, pipeline, telemetry);
  std::uint64_t written = 0;
  recorder.before_flush = [&] {
    if (simulation.truth_revision() != written) {
      written = simulation.truth_revision();
      for (const TruthRow& row : simulation.truth_rows(pipeline)) {
        log->truth(row);
      }
    }
  };
  const Time reached = run_loop(pipeline,
                                telemetry,
                                scenario.pipeline.probing,
                                kStartOfRun + scenario.duration,
                                make_hooks(recorder, *log, options));
  if (capture) {
    or_throw(capture->finish());
  }
  recorder.flush(reached);
  recorder.finish(reached,
                  std::chrono::duration<double>(WallClock::now() - wall_start).count(),
                  simulation.truth_rows(pipeline));
  return load_finished(file);
}

RunData replay_run(const std::string& run_sqlite, const RunSessionOptions& options) {
  const auto wall_start = WallClock::now();
  const auto backend = or_throw(ReplayBackend::open(run_sqlite));
  const RunInfo& recorded = backend->log().info();
  const std::string file = claim_run_directory(options.directory);
  PipelineOptions pipeline_options;
  RunInfo info = recorded;
  info.mode = "replay";
  info.command = options.command;
  info.truth_available = false;
  if (!recorded.scenario_text.empty()) {
    pipeline_options = parse_scenario(recorded.scenario_text, run_sqlite + " (scenario)").pipeline;
  } else {
    pipeline_options.probing.visit = recorded.visit;
    pipeline_options.probing.timeout = recorded.timeout;
  }
  pipeline_options.seed = recorded.seed;
  const auto log = or_throw(RunLogWriter::create(file, info, backend->log().endpoints()));
  write_manifest(options.directory, info, {});
  const Telemetry telemetry = log->recording(backend->telemetry());
  Pipeline pipeline(pipeline_options, telemetry);
  backend->use_pair_ids(pipeline.pairs());
  Recorder recorder(*log, pipeline, telemetry);
  const Time end = backend->log().result().complete ? kStartOfRun + recorded.planned
                                                    : backend->log().result().reached;
  const Time reached = run_loop(
      pipeline, telemetry, pipeline_options.probing, end, make_hooks(recorder, *log, options));
  if (const auto status = backend->status(); !status) {
    throw EnvironmentError(status.error().detail);
  }
  recorder.flush(reached);
  recorder.finish(
      reached, std::chrono::duration<double>(WallClock::now() - wall_start).count(), {});
  return load_finished(file);
}

}  // namespace bonescan
