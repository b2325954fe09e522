#include "tools/agent/agent_run.h"

#include "detectors/backend_replay/visit_csv_line.h"
#include "detectors/incident/maintenance.h"
#include "detectors/pipeline/run_loop.h"
#include "scenarios/schema/quantity.h"
#include "tools/agent/agent_metrics.h"
#include "tools/agent/agent_reload.h"
#include "tools/agent/alert_board.h"
#include "tools/agent/alert_poster.h"
#include "tools/agent/incident_lines.h"
#include "tools/agent/metrics_server.h"
#include "tools/agent/preflight.h"
#include "tools/agent/rotating_file.h"
#include "tools/agent/run_directory_claim.h"
#include "tools/agent/throttled_probes.h"
#include "tools/evaluate/evaluate.h"
#include "tools/run/build_info.h"
#include "tools/run/run_files.h"
#include "tools/run/run_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace bonescan {
namespace {

using backend_replay::visit_csv_header;
using backend_replay::VisitCsvLine;

constexpr std::int64_t kIncidentFileBytes = std::int64_t{16} << 20;
constexpr std::uint32_t kIncidentFiles = 8;
constexpr std::size_t kMaxEventsTold = 8;  ///< log lines per turn

RunInfo describe(const AgentConfig& config,
                 const AgentRunOptions& options,
                 std::int64_t epoch_unix_ns) {
  RunInfo info = describe_run(config.pipeline, options.command);
  info.mode = "live";
  info.scenario_name = config.host;
  info.scenario_hash = config.hash;
  info.scenario_text = config.text;
  info.seed = config.seed;
  info.epoch_unix_ns = epoch_unix_ns;
  info.planned = options.duration.value_or(Duration::zero());
  return info;
}

/// Windows of planned work are on the calendar; the pipeline counts from the start of the run.
PipelineOptions anchored_options(const AgentConfig& config, std::int64_t epoch_unix_ns) {
  PipelineOptions options = config.pipeline;
  options.maintenance = anchored(std::move(options.maintenance), epoch_unix_ns);
  return options;
}

/// visits.csv while it is wanted.
class VisitFile {
 public:
  VisitFile(std::string path, const EndpointDirectory& endpoints, std::int64_t epoch_unix_ns)
      : path_(std::move(path)), line_(endpoints, epoch_unix_ns) {}

  void set_limits(const VisitFileOptions& options) {
    if (options.files == 0) {
      file_.reset();
    } else if (file_) {
      file_->set_limits(options.file_bytes, options.files);
    } else {
      file_ = std::make_unique<RotatingFile>(RotatingFile::Options{.path = path_,
                                                                   .header = visit_csv_header(),
                                                                   .file_bytes = options.file_bytes,
                                                                   .files = options.files});
    }
  }

  /// While the disk is short nothing is written, and what was set aside is given up.
  void set_short(bool disk_is_short) {
    if (disk_is_short && file_) {
      file_->drop_old();
    }
    short_ = disk_is_short;
  }

  void add(const ProbeBatch& batch, const PairTable& pairs) {
    if (!file_ || short_) {
      return;
    }
    for (const Visit& visit : batch.visits) {
      file_->add(line_.of(visit, pairs[visit.pair], batch.rtts(visit)));
    }
    file_->flush();
  }

 private:
  std::string path_;
  VisitCsvLine line_;
  std::unique_ptr<RotatingFile> file_;
  bool short_ = false;
};

class LiveRun {
 public:
  LiveRun(const AgentConfig& config,
          const AgentRunOptions& options,
          const AgentServices& services,
          const EndpointDirectory& endpoints,
          LiveSources& sources,
          const RunDirectoryClaim& directory)
      : config_(config),
        options_(options),
        services_(services),
        endpoints_(endpoints),
        sources_(sources),
        info_(describe(config, options, services.clock.epoch_unix_ns())),
        metrics_(info_.version, info_.commit),
        log_(or_throw(RunLogWriter::create(directory.run_sqlite(), info_, endpoints))),
        throttled_(sources.telemetry().probes, services.clock, config.pipeline.probing.visit),
        telemetry_(log_->recording(throttled_telemetry())),
        pipeline_(anchored_options(config, info_.epoch_unix_ns), telemetry_),
        recorder_(*log_, pipeline_, telemetry_),
        incident_lines_(endpoints, telemetry_.components, info_.epoch_unix_ns),
        incident_file_({.path = directory.file("incidents.jsonl"),
                        .file_bytes = kIncidentFileBytes,
                        .files = kIncidentFiles}),
        visits_(directory.file("visits.csv"), endpoints, info_.epoch_unix_ns),
        alerts_(config.metrics == "none" ? "" : "http://" + config.metrics + "/metrics"),
        guard_(services.clock.now(), services.meter.read(options.directory)) {
    write_manifest(options.directory, info_, {});
    apply_limits();
    publish_gauges(services.meter.read(options.directory));
    serve_metrics();
    if (config.alertmanager != "none") {
      poster_ = std::make_unique<AlertPoster>(*parse_alertmanager_url(config.alertmanager));
    }
  }

  /// Until the end, a signal, or a limit.
  /// @throws EnvironmentError
  Time go() {
    try {
      const Time end = options_.duration ? kStartOfRun + *options_.duration : Time::max();
      const Time reached = run_loop(pipeline_, telemetry_, config_.pipeline.probing, end, hooks());
      announce_stop();
      finish(reached);
      return reached;
    } catch (...) {
      announce_stop();
      throw;
    }
  }

 private:
  Telemetry throttled_telemetry() {
    const Telemetry raw = sources_.telemetry();
    return {raw.endpoints,
            raw.components,
            throttled_,
            raw.paths,
            raw.overlay,
            raw.tables,
            raw.throughput,
            raw.membership,
            raw.hosts};
  }

  void say(const std::string& sentence) const { services_.log(sentence); }

  void serve_metrics() {
    if (config_.metrics != "none") {
      server_ = or_throw(MetricsServer::start(*parse_socket_address(config_.metrics),
                                              [this] { return metrics_.text(); }));
    }
  }

  void apply_limits() {
    visits_.set_limits(config_.visits);
    throttled_.set_rate(rate_ratio_ * config_.limits.probes_per_second);
  }

  RunLoopHooks hooks() {
    RunLoopHooks hooks = recorder_.hooks();
    hooks.membership = [this, record = hooks.membership](Time now,
                                                         std::span<const MembershipEvent> events) {
      record(now, events);
      for (const std::string& note : sources_.take_notes()) {
        say(note);
      }
      membership(events);
    };
    hooks.observed = [this, record = hooks.observed](Time now, const ProbeBatch& batch) {
      record(now, batch);
      metrics_.observed(batch);
      visits_.add(batch, pipeline_.pairs());
    };
    hooks.intake = [this](Time, const TelemetryIntake& intake) {
      metrics_.reports(intake.visits().total());
    };
    hooks.updates = [this, record = hooks.updates](Time now, const PipelineUpdates& news) {
      record(now, news);
      updates(now, news);
    };
    hooks.wait = [this](Time until) { wait(until); };
    hooks.stop = [this](Time) { return stopping_; };
    return hooks;
  }

  void membership(std::span<const MembershipEvent> events) {
    metrics_.membership(events);
    for (const MembershipEvent& event : events.first(std::min(events.size(), kMaxEventsTold))) {
      say(fmt::format("{} {}{}{}",
                      endpoints_[event.endpoint].name,
                      describe_kind(event.kind),
                      event.detail.empty() ? "" : ": ",
                      event.detail));
    }
    if (events.size() > kMaxEventsTold) {
      say(fmt::format("{} more endpoints changed", events.size() - kMaxEventsTold));
    }
  }

  static std::string_view describe_kind(MembershipKind kind) {
    switch (kind) {
      case MembershipKind::kReady:
        return "is ready";
      case MembershipKind::kStopping:
        return "stops as planned";
      case MembershipKind::kGone:
        return "is gone";
      case MembershipKind::kAddressChanged:
        return "has another address";
      case MembershipKind::kSubmitted:
        return "is submitted";
    }
    return "changed";
  }

  void updates(Time now, const PipelineUpdates& news) {
    for (const std::size_t index : news.incidents) {
      const Incident& incident = pipeline_.incidents()[index];
      incident_file_.add(incident_lines_.line(index, incident, pipeline_.pairs()));
      tell_of(index, incident);
      if (poster_) {
        alerts_.update(now,
                       {endpoints_, telemetry_.components, pipeline_.pairs(), info_.epoch_unix_ns},
                       index,
                       incident);
      }
    }
    incident_file_.flush();
    post_alerts(now);
    if (!news.incidents.empty()) {
      metrics_.incidents(pipeline_.incidents());
    }
    for (std::size_t i = 0; i < news.windows.size(); ++i) {
      metrics_.window_closed();
    }
    if (!news.windows.empty()) {
      flushed_ = now;  // by the recorder
    } else if (!news.incidents.empty() || now - flushed_ >= config_.flush) {
      recorder_.flush(now);
      flushed_ = now;
    }
    watch_limits();
  }

  void post_alerts(Time now) {
    if (!poster_) {
      return;
    }
    if (alerts_.due(now)) {
      poster_->post(alerts_.body(now, info_.epoch_unix_ns));
    }
    const std::string error = poster_->counts().last_error;
    if (error != alert_error_) {
      say(error.empty() ? "Alertmanager takes alerts again"
                        : fmt::format("Alertmanager at {} cannot be told of incidents: {}",
                                      config_.alertmanager,
                                      error));
      alert_error_ = error;
    }
  }

  /// Openings, changes of the component that is named, and ends.
  void tell_of(std::size_t index, const Incident& incident) {
    told_.resize(std::max(told_.size(), index + 1));
    const std::string component =
        incident.candidates.empty()
            ? "unknown component"
            : telemetry_.components[incident.candidates.front().component].name;
    const std::string text = fmt::format("incident {} {}: {}, {}",
                                         incident_id_text(incident.id),
                                         incident.closed ? "closed" : "open",
                                         incident.kind,
                                         component);
    if (told_[index] != text) {
      told_[index] = text;
      say(text);
    }
  }

  /// Sleeps until a turn is due; signals are dealt with in between.
  void wait(Time until) {
    // Once a stop is wanted, only the probes that are under way are waited for.
    while (!stopping_ || until <= probes_end_) {
      switch (services_.clock.wait(until)) {
        case Wake::kTime:
          lag_ = services_.clock.now() - until;
          return;
        case Wake::kReload:
          reload();
          break;
        case Wake::kStop:
          if (!stopping_) {
            say("asked to stop: the last probes come in, then the run is closed");
            stop_soon(until);
          }
          break;
      }
    }
  }

  void stop_soon(Time until) {
    stopping_ = true;
    probes_end_ = std::min(until, services_.clock.now() + config_.pipeline.probing.timeout);
    throttled_.close();
    announce_stop();
  }

  void reload() {
    Reload news = reload_agent_config(config_);
    say(news.message);
    metrics_.reloaded(!news.refused);
    if (news.config) {
      config_ = std::move(*news.config);
      apply_limits();
    }
  }

  void watch_limits() {
    const Time now = services_.clock.now();
    if (!guard_.due(now)) {
      return;
    }
    const ResourceUse use = services_.meter.read(options_.directory);
    const ResourceGuard::Verdict verdict = guard_.judge(now, use, config_.limits);
    if (!verdict.news.empty()) {
      say(verdict.news);
    }
    rate_ratio_ = verdict.rate_ratio;
    visits_.set_short(verdict.disk_is_short);
    apply_limits();
    publish_gauges(use);
    if (!verdict.stop.empty() && over_limit_.empty()) {
      say(verdict.stop);
      over_limit_ = verdict.stop;
      stop_soon(now);
    }
  }

  void publish_gauges(const ResourceUse& use) {
    metrics_.gauges({.cpu_s = use.cpu_s,
                     .memory_bytes = use.memory_bytes,
                     .disk_free_bytes = use.disk_free_bytes,
                     .rate_ratio = rate_ratio_,
                     .turn_lag_s = seconds(lag_),
                     .start_unix_s = static_cast<double>(info_.epoch_unix_ns) / 1e9});
  }

  void announce_stop() {
    if (!std::exchange(announced_, true)) {
      sources_.announce_stop();
    }
  }

  void finish(Time reached) {
    server_.reset();
    recorder_.flush(reached);
    recorder_.finish(reached, seconds(services_.clock.now() - kStartOfRun), {});
    const RunData run = or_throw(load_run(options_.directory));
    write_reports(options_.directory, run, evaluate(run));
    say(fmt::format("{} probes in {}, {} incidents; report: {}/report.html",
                    run.result.probes_sent,
                    format_duration(reached - kStartOfRun),
                    run.incidents.size(),
                    options_.directory));
    if (!over_limit_.empty()) {
      throw EnvironmentError(over_limit_);
    }
  }

  AgentConfig config_;
  const AgentRunOptions& options_;
  const AgentServices& services_;
  const EndpointDirectory& endpoints_;
  LiveSources& sources_;
  RunInfo info_;
  AgentMetrics metrics_;
  std::unique_ptr<RunLogWriter> log_;
  ThrottledProbes throttled_;
  Telemetry telemetry_;
  Pipeline pipeline_;
  RunRecorder recorder_;
  IncidentLines incident_lines_;
  RotatingFile incident_file_;
  VisitFile visits_;
  AlertBoard alerts_;
  std::unique_ptr<AlertPoster> poster_;  ///< absent: nobody is told
  std::string alert_error_;
  ResourceGuard guard_;
  std::vector<std::string> told_;  ///< last log line of each incident
  Time flushed_ = kStartOfRun;
  Time probes_end_ = kStartOfRun;
  Duration lag_{};
  double rate_ratio_ = 1.0;
  bool stopping_ = false;
  bool announced_ = false;
  std::string over_limit_;
  std::unique_ptr<MetricsServer> server_;  ///< last: its thread reads the metrics
};

}  // namespace

Time run_agent(const AgentConfig& config,
               const AgentRunOptions& options,
               const AgentServices& services) {
  const std::vector<PreflightRow> rows =
      preflight(config, options.directory, services.system, services.meter);
  if (!can_run(rows)) {
    throw EnvironmentError(first_obstacle(rows));
  }
  for (const PreflightRow& row : rows) {
    if (row.status == PreflightStatus::kWarn) {
      services.log(fmt::format("{}: {}; {}", row.subject, row.detail, row.hint));
    }
  }
  const EndpointDirectory endpoints = endpoint_directory(config);
  const auto sources = or_throw(services.system.open(config, endpoints, services.clock));
  RunDirectoryClaim directory(options.directory);
  LiveRun run(config, options, services, endpoints, *sources, directory);
  directory.keep();
  services.log(fmt::format(
      "agent of {}: {} of {} endpoints are local; writing {}",
      config.host,
      std::count_if(endpoints.begin(), endpoints.end(), [](const Endpoint& e) { return e.local; }),
      endpoints.size(),
      options.directory));
  return run.go();
}

}  // namespace bonescan
