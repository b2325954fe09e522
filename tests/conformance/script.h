// The script that the telemetry battery plays with every backend, and what came back.
#pragma once

#include "detectors/run_log/run_log.h"
#include "detectors/telemetry/telemetry.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

namespace bonescan::conformance {

class BackendOnBench {
 public:
  virtual ~BackendOnBench() = default;

  virtual Telemetry telemetry() = 0;

  /// The directed pairs to probe, at least two; PairId = index.
  virtual PairTable pairs() const = 0;

  /// From when on these pairs are ready, a whole second.
  virtual Time ready_at() const { return kStartOfRun; }

  /// The directed pairs of tasks that are submitted after ready_at(), and from when on they are
  /// ready, a whole second; none if the directory of this backend does not grow.
  virtual PairTable later_pairs() const { return {}; }

  virtual Time later_ready_at() const { return kStartOfRun; }

  /// Lets the world run until `now`; called before anything is asked at `now`.
  virtual void advance(Time /*now*/) {}
};

constexpr int kTurns = 8;
constexpr Duration kTurn = std::chrono::seconds(1);
constexpr Duration kSpacing = std::chrono::milliseconds(10);
constexpr Duration kTimeout = std::chrono::milliseconds(500);

/// A question to an on-demand source, until it had an answer that is not kPending.
template <class Answer>
struct Asked {
  Asked(const FlowKey& about, EndpointId endpoint) : flow(about), at(endpoint) {}

  FlowKey flow;
  EndpointId at;  ///< of a dump, of counters or of a report
  int pending = 0;
  Expected<Answer> answer = Answer{};
  bool open = true;
};

template <class Item>
struct Collected {
  Time now;
  std::vector<Item> items;
};

/// How long the directory was around one collecting of membership.
struct DirectorySize {
  std::size_t before = 0;
  std::size_t after = 0;

  bool operator==(const DirectorySize&) const = default;
};

struct Transcript {
  std::vector<ProbeRequest> requests;
  std::vector<ObservedRound> rounds;
  std::size_t endpoints_at_start = 0;
  std::vector<Collected<MembershipEvent>> membership;
  std::vector<DirectorySize> directory;  ///< one for each of `membership`
  std::vector<Collected<ThroughputSample>> throughput;
  std::vector<Asked<TracedPath>> traces;
  std::vector<Asked<OverlayWalk>> walks;
  std::vector<Asked<FlowTableDump>> dumps;
  std::vector<Asked<FlowCounterDump>> counters;
  std::vector<Asked<HostReport>> hosts;
  std::vector<std::tuple<Time, EndpointId, AgentState>> alive;
  Time end;
};

/// Asks what is still open; an answer of kPending leaves it open.
template <class Answer, class Ask>
void ask_open(std::vector<Asked<Answer>>& questions, Ask ask) {
  for (Asked<Answer>& question : questions) {
    if (!question.open) {
      continue;
    }
    question.answer = ask(question);
    question.open = !question.answer && question.answer.error().code == ErrorCode::kPending;
    question.pending += question.open ? 1 : 0;
  }
}

class ScriptPlayer {
 public:
  ScriptPlayer(BackendOnBench& backend, RunLogWriter* log)
      : backend_(backend),
        log_(log),
        telemetry_(log == nullptr ? backend.telemetry() : log->recording(backend.telemetry())),
        pairs_(backend.pairs()) {}

  Transcript play() {
    transcript_.endpoints_at_start = telemetry_.endpoints.size();
    const Time start = backend_.ready_at();
    for (Time now = kStartOfRun; now < start; now += kTurn) {
      backend_.advance(now);
      collect_members(now);
    }
    for (int turn = 0; turn < kTurns + 2; ++turn) {
      const Time now = start + turn * kTurn;
      backend_.advance(now);
      collect_members(now);
      if (now == backend_.later_ready_at()) {
        for (const Pair& pair : backend_.later_pairs()) {
          pairs_.push_back(pair);
        }
      }
      if (turn < kTurns) {
        submit(now, turn);
      }
      backend_.advance(now + kTimeout);
      collect_probes(now + kTimeout);
      if (turn % 2 == 1 && turn < kTurns - 2) {
        open_questions(now + kTimeout, turn);
      }
      ask(now + kTimeout);
      transcript_.end = now + kTimeout;
      if (log_ != nullptr && turn % 3 == 2) {
        EXPECT_TRUE(log_->flush(transcript_.end, telemetry_.components));
      }
    }
    return std::move(transcript_);
  }

 private:
  void collect_members(Time now) {
    Collected<MembershipEvent> members{now, {}};
    const std::size_t before = telemetry_.endpoints.size();
    telemetry_.membership.collect(now, members.items);
    transcript_.directory.push_back({before, telemetry_.endpoints.size()});
    Collected<ThroughputSample> moved{now, {}};
    telemetry_.throughput.collect(now, moved.items);
    if (log_ != nullptr) {
      log_->endpoints(telemetry_.endpoints);
      log_->membership(now, members.items);
      log_->throughput(moved.items);
    }
    transcript_.membership.push_back(std::move(members));
    transcript_.throughput.push_back(std::move(moved));
  }

  /// Starts are shuffled and partly equal, so that (start, pair) order has to be made.
  void submit(Time now, int turn) {
    std::vector<ProbeRequest> requests;
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
      const std::uint32_t pair = static_cast<std::uint32_t>(pairs_.size()) - 1 - i;
      ProbeRequest request;
      request.pair = PairId(pair);
      request.ends = pairs_[request.pair];
      request.start = now + std::chrono::milliseconds(100 * (pair % 3) + turn);
      request.spacing = kSpacing;
      request.timeout = kTimeout;
      request.source_port = static_cast<std::uint16_t>(50000 + turn);
      request.dscp = 26;
      request.count = static_cast<std::uint8_t>(turn % 2 == 0 ? 10 : 3);
      requests.push_back(request);
    }
    telemetry_.probes.submit(requests);
    transcript_.requests.insert(transcript_.requests.end(), requests.begin(), requests.end());
  }

  void collect_probes(Time now) {
    ObservedRound round;
    round.now = now;
    telemetry_.probes.collect(now, round.batch);
    if (log_ != nullptr) {
      log_->observed(now, round.batch);
      log_->updates({}, {}, pairs_);
    }
    transcript_.rounds.push_back(std::move(round));
  }

  void open_questions(Time now, int turn) {
    const auto pair = static_cast<std::uint32_t>(static_cast<std::size_t>(turn) % pairs_.size());
    const Pair ends = pairs_[PairId(pair)];
    const FlowKey flow{ends.source, ends.target, static_cast<std::uint16_t>(50000 + turn)};
    transcript_.traces.emplace_back(flow, EndpointId());
    transcript_.walks.emplace_back(flow, EndpointId());
    transcript_.walks.emplace_back(flow.reversed(), EndpointId());
    transcript_.dumps.emplace_back(flow, flow.source);
    transcript_.dumps.emplace_back(flow, flow.target);
    transcript_.counters.emplace_back(flow, flow.source);
    if (telemetry_.hosts != nullptr) {
      transcript_.hosts.emplace_back(flow, flow.source);
    }
    transcript_.alive.emplace_back(now, flow.target, telemetry_.membership.alive(flow.target, now));
  }

  void ask(Time now) {
    ask_open(transcript_.traces,
             [&](const auto& question) { return telemetry_.paths.trace(question.flow, now); });
    ask_open(transcript_.walks,
             [&](const auto& question) { return telemetry_.overlay.walk(question.flow, now); });
    ask_open(transcript_.dumps, [&](const auto& question) {
      const FlowKey flows[] = {question.flow, question.flow.reversed()};
      return telemetry_.tables.dump(question.at, flows, now);
    });
    ask_open(transcript_.counters, [&](const auto& question) {
      return telemetry_.tables.flow_counters(question.at, now);
    });
    ask_open(transcript_.hosts,
             [&](const auto& question) { return telemetry_.hosts->inspect(question.at, now); });
  }

  BackendOnBench& backend_;
  RunLogWriter* log_;
  Telemetry telemetry_;
  PairTable pairs_;
  Transcript transcript_;
};

/// Plays the script.  With a log, everything is recorded in it and flushed every third turn.
inline Transcript play(BackendOnBench& backend, RunLogWriter* log = nullptr) {
  return ScriptPlayer(backend, log).play();
}

}  // namespace bonescan::conformance
