#include "tools/run/run_session.h"

#include "detectors/backend_replay/replay_backend.h"
#include "detectors/incident/maintenance.h"
#include "detectors/pipeline/run_loop.h"
#include "scenarios/schema/load_scenario.h"
#include "sim/base/check.h"
#include "tools/agent/agent_config.h"
#include "tools/run/packet_capture.h"
#include "tools/run/run_files.h"
#include "tools/run/run_recorder.h"
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

RunInfo describe(const Scenario& scenario, const RunSessionOptions& options, std::string mode) {
  RunInfo info = describe_run(scenario.pipeline, options.command);
  info.mode = std::move(mode);
  info.scenario_name = scenario.name;
  info.scenario_hash = scenario.hash;
  info.scenario_text = scenario.text;
  info.seed = scenario.seed;
  info.planned = scenario.duration;
  return info;
}

/// The recorder's hooks, and progress about ten times a second.
RunLoopHooks make_hooks(RunRecorder& recorder, const RunSessionOptions& options) {
  RunLoopHooks hooks = recorder.hooks();
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

/// Whether an agent recorded it.  Simulated runs have no date, imported visits no configuration.
bool was_live(const RunInfo& recorded) {
  return recorded.epoch_unix_ns != 0 && !recorded.scenario_text.empty();
}

/// What the recorded run was analysed with.
PipelineOptions recorded_options(const RunInfo& recorded, const std::string& run_sqlite) {
  PipelineOptions options;
  if (was_live(recorded)) {
    options = parse_agent_config(recorded.scenario_text, run_sqlite + " (configuration)").pipeline;
  } else if (!recorded.scenario_text.empty()) {
    options = parse_scenario(recorded.scenario_text, run_sqlite + " (scenario)").pipeline;
  } else {
    options.probing.visit = recorded.visit;
    options.probing.timeout = recorded.timeout;
  }
  return options;
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
  RunRecorder recorder(*log, pipeline, telemetry);
  std::uint64_t written = 0;
  recorder.before_flush = [&] {
    if (simulation.truth_revision() != written) {
      written = simulation.truth_revision();
      for (const TruthRow& row : simulation.truth_rows(pipeline)) {
        log->truth(row);
      }
    }
  };
  RunLoopHooks hooks = make_hooks(recorder, options);
  hooks.wait = [&](Time) { simulation.learn_paths(pipeline.pairs()); };
  const Time reached = run_loop(
      pipeline, telemetry, scenario.pipeline.probing, kStartOfRun + scenario.duration, hooks);
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
  PipelineOptions pipeline_options = recorded_options(recorded, run_sqlite);
  RunInfo info = recorded;
  info.mode = "replay";
  info.command = options.command;
  info.truth_available = false;
  pipeline_options.seed = recorded.seed;
  pipeline_options.maintenance =
      anchored(std::move(pipeline_options.maintenance), recorded.epoch_unix_ns);
  const auto log = or_throw(RunLogWriter::create(file, info, backend->telemetry().endpoints));
  write_manifest(options.directory, info, {});
  const Telemetry telemetry = log->recording(backend->telemetry());
  Pipeline pipeline(pipeline_options, telemetry);
  backend->use_pair_ids(pipeline.pairs());
  RunRecorder recorder(*log, pipeline, telemetry);
  // A live run ends when somebody stops it, whatever was planned.
  const RunResult recorded_result = backend->log().result();
  const Time end = recorded_result.complete && !was_live(recorded) ? kStartOfRun + recorded.planned
                                                                   : recorded_result.reached;
  RunLoopHooks hooks = make_hooks(recorder, options);
  hooks.wait = [&](Time) { backend->use_pair_ids(pipeline.pairs()); };
  const Time reached = run_loop(pipeline, telemetry, pipeline_options.probing, end, hooks);
  if (const auto status = backend->status(); !status) {
    throw EnvironmentError(status.error().detail);
  }
  recorder.flush(reached);
  recorder.finish(
      reached, std::chrono::duration<double>(WallClock::now() - wall_start).count(), {});
  return load_finished(file);
}

}  // namespace bonescan
