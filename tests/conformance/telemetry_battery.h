// One battery for every implementation of the seam (detectors/telemetry/telemetry.h).
//
// To put a backend on the bench, derive from BackendOnBench and, in a *_test.cpp of this folder:
//
//   class SimulatedBackend final : public BackendOnBench { ... };
//   INSTANTIATE_TEST_SUITE_P(Simulated, TelemetryBattery, testing::Values(BenchFactory{
//       "two_hosts", [] { return std::make_unique<SimulatedBackend>(); }}));
//
// The tests are in telemetry_battery_test.cpp.  Each makes a fresh backend and plays the same
// script with it (play): a visit of every pair in each of `kTurns` seconds after ready_at(),
// everything collected in the order of a run loop, the on-demand sources asked every second turn,
// each pending question asked again in the next turns.  What came back is a Transcript, and the
// tests are about transcripts.  So a recorded backend works too: it has to have been recorded from
// the same script.
#pragma once

#include "detectors/run_log/run_log.h"
#include "detectors/telemetry/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
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

  /// Lets the world run until `now`; called before anything is asked at `now`.
  virtual void advance(Time /*now*/) {}
};

struct BenchFactory {
  std::string name;
  std::function<std::unique_ptr<BackendOnBench>()> make;
};

inline void PrintTo(const BenchFactory& factory, std::ostream* out) {
  *out << factory.name;
}

constexpr int kTurns = 8;
constexpr Duration kTurn = std::chrono::seconds(1);
constexpr Duration kSpacing = std::chrono::milliseconds(10);
constexpr Duration kTimeout = std::chrono::milliseconds(500);

/// A question to an on-demand source, until it had an answer that is not kPending.
template <class Answer>
struct Asked {
  Asked(const FlowKey& about, EndpointId endpoint) : flow(about), at(endpoint) {}

  FlowKey flow;
  EndpointId at;  ///< of a dump
  int pending = 0;
  Expected<Answer> answer = Answer{};
  bool open = true;
};

template <class Item>
struct Collected {
  Time now;
  std::vector<Item> items;
};

struct Transcript {
  std::vector<ProbeRequest> requests;
  std::vector<ObservedRound> rounds;
  std::vector<Collected<MembershipEvent>> membership;
  std::vector<Collected<ThroughputSample>> throughput;
  std::vector<Asked<TracedPath>> traces;
  std::vector<Asked<OverlayWalk>> walks;
  std::vector<Asked<FlowTableDump>> dumps;
  std::vector<std::tuple<Time, EndpointId, AgentState>> alive;
  Time end;
};

/// Plays the script.  With a log, everything is recorded in it and flushed every third turn.
Transcript play(BackendOnBench& backend, RunLogWriter* log = nullptr);

class TelemetryBattery : public testing::TestWithParam<BenchFactory> {
 protected:
  void SetUp() override {
    backend_ = GetParam().make();
    ASSERT_NE(backend_, nullptr);
  }

  Transcript play_script() { return play(*backend_); }

  BackendOnBench& backend() { return *backend_; }

 private:
  std::unique_ptr<BackendOnBench> backend_;
};

}  // namespace bonescan::conformance
