#include "detectors/trial/detector_trial.h"

#include "detectors/backend_replay/replay_backend.h"
#include "detectors/detect/plain_analysis.h"
#include "sim/base/fingerprint.h"

#include <filesystem>
#include <optional>

namespace bonescan {
namespace {

/// Between two of these the log's rows are committed. @ours
constexpr Duration kFlushEvery = std::chrono::seconds(30);

class Trial final {
 public:
  Trial(ReplayBackend& backend, RunLogWriter& out, Detector& detector, Localizer* localizer)
      : telemetry_(backend.telemetry()),
        log_(backend.log()),
        out_(out),
        result_(log_.result()),
        pairs_(log_.pairs()),
        analysis_({.sweep = from_seconds(result_.sweep_s)}, telemetry_, detector, localizer) {}

  Expected<TrialSummary> run() {
    for (const MembershipEvent& event : log_.membership()) {
      out_.membership(event.at, {&event, 1});
    }
    const auto read = log_.for_each_round([this](const ObservedRound& round) { hear(round); });
    if (!read) {
      return tl::unexpected(read.error());
    }
    if (failure_) {
      return tl::unexpected(*failure_);
    }
    result_.fingerprint = fingerprint_.hex();
    if (const auto finished = out_.finish(result_, telemetry_.components); !finished) {
      return tl::unexpected(finished.error());
    }
    summary_.incidents = analysis_.incidents().size();
    return summary_;
  }

 private:
  void hear(const ObservedRound& round) {
    if (failure_) {
      return;
    }
    out_.observed(round.now, round.batch);
    analysis_.observe(round.now, pairs_, round.batch);
    analysis_.poll(round.now);
    const PipelineUpdates updates = analysis_.take_updates();
    for (const Verdict& verdict : updates.verdicts) {
      fingerprint_.add(static_cast<std::uint64_t>(nanoseconds(verdict.at)));
      fingerprint_.add(static_cast<std::uint64_t>(verdict.pair.index()));
    }
    out_.updates(updates, analysis_.incidents(), pairs_);
    summary_.visits += round.batch.visits.size();
    summary_.verdicts += updates.verdicts.size();
    if (round.now - flushed_ >= kFlushEvery) {
      flushed_ = round.now;
      if (const auto done = out_.flush(round.now, telemetry_.components); !done) {
        failure_ = done.error();
      }
    }
  }

  Telemetry telemetry_;
  const RunLogReader& log_;
  RunLogWriter& out_;
  RunResult result_;
  PairTable pairs_;
  PlainAnalysis analysis_;
  Fingerprint fingerprint_;
  TrialSummary summary_;
  Time flushed_ = kStartOfRun;
  std::optional<Error> failure_;
};

}  // namespace

Expected<TrialSummary> try_detector(const std::string& recorded_run_sqlite,
                                    const std::string& out,
                                    Detector& detector,
                                    Localizer* localizer) {
  auto backend = ReplayBackend::open(recorded_run_sqlite);
  if (!backend) {
    return tl::unexpected(backend.error());
  }
  std::error_code failed;
  if (!std::filesystem::create_directories(out, failed)) {
    return fail(ErrorCode::kIo,
                failed ? out + ": " + failed.message()
                       : out + " exists already: name a directory that does not");
  }
  RunInfo info = (*backend)->log().info();
  info.mode = "replay";
  info.command = "trial of " + std::string(detector.name());
  info.truth_available = false;
  info.pipeline_options = std::string(detector.name());
  auto log = RunLogWriter::create(out + "/run.sqlite", info, (*backend)->log().endpoints());
  if (!log) {
    return tl::unexpected(log.error());
  }
  return Trial(**backend, **log, detector, localizer).run();
}

}  // namespace bonescan
