#include "detectors/backend_replay/replay_backend.h"

#include "tests/conformance/fake_on_bench.h"
#include "tests/support/temporary_directory.h"

namespace bonescan {

// For gtest's messages and comparisons only.
bool operator==(const Visit& a, const Visit& b) {
  return std::tie(a.pair, a.start, a.first, a.source_port, a.payload_bytes, a.dscp, a.count) ==
         std::tie(b.pair, b.start, b.first, b.source_port, b.payload_bytes, b.dscp, b.count);
}

bool operator==(const MembershipEvent& a, const MembershipEvent& b) {
  return std::tie(a.at, a.endpoint, a.kind) == std::tie(b.at, b.endpoint, b.kind);
}

bool operator==(const ThroughputSample& a, const ThroughputSample& b) {
  return std::tie(a.at, a.endpoint, a.bytes) == std::tie(b.at, b.endpoint, b.bytes);
}

bool operator==(const OverlayHop& a, const OverlayHop& b) {
  return std::tie(a.where, a.rule, a.action) == std::tie(b.where, b.rule, b.action);
}

bool operator==(const FlowEntry& a, const FlowEntry& b) {
  return std::tie(a.present, a.actions, a.packets, a.used) ==
         std::tie(b.present, b.actions, b.packets, b.used);
}

bool operator==(const FlowTableRow& a, const FlowTableRow& b) {
  return std::tie(a.flow,
                  a.role,
                  a.match,
                  a.expected_actions,
                  a.hardware_expected,
                  a.datapath,
                  a.eswitch) == std::tie(b.flow,
                                         b.role,
                                         b.match,
                                         b.expected_actions,
                                         b.hardware_expected,
                                         b.datapath,
                                         b.eswitch);
}

bool operator==(const FlowCounter& a, const FlowCounter& b) {
  return std::tie(a.peer, a.bytes, a.age) == std::tie(b.peer, b.bytes, b.age);
}

namespace conformance {
namespace {

/// A replay of the script as it was recorded from the fake.
class ReplayOnBench final : public BackendOnBench {
 public:
  explicit ReplayOnBench(FakeOnBench::Answers answers,
                         FakeOnBench::Directory growth = FakeOnBench::Directory::kFixed)
      : original_(answers, growth) {
    const std::string path = directory_.file("run.sqlite");
    Telemetry telemetry = original_.telemetry();
    auto log = RunLogWriter::create(path, {}, telemetry.endpoints);
    EXPECT_TRUE(log) << log.error().detail;
    transcript_ = play(original_, log->get());
    RunResult result;
    result.reached = transcript_.end;
    EXPECT_TRUE((*log)->finish(result, telemetry.components));
    log->reset();
    auto replay = ReplayBackend::open(path);
    EXPECT_TRUE(replay) << replay.error().detail;
    replay_ = std::move(*replay);
  }

  Telemetry telemetry() override { return replay_->telemetry(); }

  PairTable pairs() const override { return original_.pairs(); }

  Time ready_at() const override { return original_.ready_at(); }

  PairTable later_pairs() const override { return original_.later_pairs(); }

  Time later_ready_at() const override { return original_.later_ready_at(); }

  const Transcript& recorded() const { return transcript_; }

  FakeOnBench& original() { return original_; }

 private:
  fakes::TemporaryDirectory directory_;
  FakeOnBench original_;
  Transcript transcript_;
  std::unique_ptr<ReplayBackend> replay_;
};

template <FakeOnBench::Answers answers,
          FakeOnBench::Directory directory = FakeOnBench::Directory::kFixed>
std::unique_ptr<BackendOnBench> make() {
  return std::make_unique<ReplayOnBench>(answers, directory);
}

std::string name_of(const testing::TestParamInfo<BenchFactory>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Replay,
    TelemetryBattery,
    testing::Values(
        BenchFactory{"prompt", make<FakeOnBench::Answers::kPrompt>},
        BenchFactory{"pending", make<FakeOnBench::Answers::kPending>},
        BenchFactory{"grows", make<FakeOnBench::Answers::kPrompt, FakeOnBench::Directory::kGrows>}),
    name_of);

void expect_equal(const TracedPath& a, const TracedPath& b) {
  EXPECT_EQ(a.request, b.request);
  EXPECT_EQ(a.answer, b.answer);
}

void expect_equal(const OverlayWalk& a, const OverlayWalk& b) {
  EXPECT_EQ(a.hops, b.hops);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.culprit, b.culprit);
  EXPECT_EQ(a.reason, b.reason);
}

void expect_equal(const FlowTableDump& a, const FlowTableDump& b) {
  EXPECT_EQ(a.rnic, b.rnic);
  EXPECT_EQ(a.rows, b.rows);
}

void expect_equal(const FlowCounterDump& a, const FlowCounterDump& b) {
  EXPECT_EQ(a.rnic, b.rnic);
  EXPECT_EQ(a.flows, b.flows);
}

void expect_equal(const HostReport& a, const HostReport& b) {
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.rnic, b.rnic);
  EXPECT_EQ(a.gids, b.gids);
  EXPECT_EQ(a.hugepages, b.hugepages);
  EXPECT_EQ(a.bond, b.bond);
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.pcie, b.pcie);
  EXPECT_EQ(a.port, b.port);
}

template <class Answer>
void expect_equal(const std::vector<Asked<Answer>>& a, const std::vector<Asked<Answer>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].pending, b[i].pending);
    ASSERT_EQ(a[i].answer.has_value(), b[i].answer.has_value());
    if (a[i].answer) {
      expect_equal(*a[i].answer, *b[i].answer);
    } else {
      EXPECT_EQ(a[i].answer.error().code, b[i].answer.error().code);
      EXPECT_EQ(a[i].answer.error().detail, b[i].answer.error().detail);
    }
  }
}

template <class Item>
void expect_equal(const std::vector<Collected<Item>>& a, const std::vector<Collected<Item>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].now, b[i].now);
    EXPECT_EQ(a[i].items, b[i].items);
  }
}

TEST(Replay, GivesBackEverythingThatWasRecorded) {
  using Answers = FakeOnBench::Answers;
  using Directory = FakeOnBench::Directory;
  for (const auto& [answers, directory] : {std::pair(Answers::kPrompt, Directory::kFixed),
                                           std::pair(Answers::kPending, Directory::kFixed),
                                           std::pair(Answers::kPending, Directory::kGrows)}) {
    ReplayOnBench bench(answers, directory);
    const Transcript& recorded = bench.recorded();
    const Transcript replayed = play(bench);
    ASSERT_EQ(recorded.rounds.size(), replayed.rounds.size());
    for (std::size_t i = 0; i < recorded.rounds.size(); ++i) {
      EXPECT_EQ(recorded.rounds[i].batch.visits, replayed.rounds[i].batch.visits);
      EXPECT_EQ(recorded.rounds[i].batch.rtt_ns, replayed.rounds[i].batch.rtt_ns);
      EXPECT_EQ(recorded.rounds[i].batch.sent_after_ns, replayed.rounds[i].batch.sent_after_ns);
    }
    expect_equal(recorded.membership, replayed.membership);
    EXPECT_EQ(recorded.endpoints_at_start, replayed.endpoints_at_start);
    EXPECT_EQ(recorded.directory, replayed.directory);
    expect_equal(recorded.throughput, replayed.throughput);
    expect_equal(recorded.traces, replayed.traces);
    expect_equal(recorded.walks, replayed.walks);
    expect_equal(recorded.dumps, replayed.dumps);
    expect_equal(recorded.counters, replayed.counters);
    EXPECT_FALSE(recorded.hosts.empty());
    expect_equal(recorded.hosts, replayed.hosts);
    EXPECT_EQ(recorded.alive, replayed.alive);
  }
}

TEST(Replay, KeepsComponentIds) {
  ReplayOnBench bench(FakeOnBench::Answers::kPrompt);
  const ComponentTable& before = bench.original().world().components;
  ComponentTable& after = bench.telemetry().components;
  ASSERT_EQ(before.size(), after.size());
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[ComponentId(i)], after[ComponentId(i)]);
  }
  EXPECT_EQ(after.intern(ComponentType::kAgent, "new").index(), before.size());
}

TEST(Replay, OneLateCollectGivesEverythingInOrder) {
  ReplayOnBench bench(FakeOnBench::Answers::kPrompt);
  ProbeBatch batch;
  bench.telemetry().probes.collect(bench.recorded().end, batch);
  EXPECT_EQ(batch.visits.size(), bench.recorded().requests.size());
  EXPECT_TRUE(
      std::is_sorted(batch.visits.begin(), batch.visits.end(), [](const Visit& a, const Visit& b) {
        return std::tie(a.start, a.pair) < std::tie(b.start, b.pair);
      }));
}

TEST(Replay, NamesPairsAsItsCallerDoes) {
  ReplayOnBench bench(FakeOnBench::Answers::kPrompt);
  const PairTable recorded = bench.pairs();
  const auto count = static_cast<std::uint32_t>(recorded.size());
  // The caller counts backwards and does not know the first pair.
  std::vector<ProbeRequest> requests(count - 1);
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    requests[i].pair = PairId(i);
    requests[i].ends = recorded[PairId(count - 1 - i)];
  }
  ProbeBatch as_recorded;
  bench.telemetry().probes.collect(fakes::at_ms(1500), as_recorded);
  bench.telemetry().probes.submit(requests);
  ProbeBatch renamed;
  bench.telemetry().probes.collect(bench.recorded().end, renamed);
  const std::size_t all = bench.recorded().requests.size() - as_recorded.visits.size();
  EXPECT_LT(renamed.visits.size(), all);
  EXPECT_GE(renamed.visits.size(), all - kTurns);
  for (const Visit& visit : renamed.visits) {
    EXPECT_LT(visit.pair.index(), count - 1);
  }
}

TEST(Replay, RepeatsTheOrderOfAnswersOfOneMoment) {
  const fakes::TemporaryDirectory directory;
  const std::string path = directory.file("run.sqlite");
  FakeOnBench fake(FakeOnBench::Answers::kPending);
  const FlowKey flow{EndpointId(0), EndpointId(2), 1};
  {
    auto log = RunLogWriter::create(path, {}, fake.telemetry().endpoints);
    ASSERT_TRUE(log);
    const Telemetry recording = (*log)->recording(fake.telemetry());
    EXPECT_FALSE(recording.overlay.walk(flow, fakes::at_s(1)));
    EXPECT_TRUE(recording.overlay.walk(flow, fakes::at_s(1)));
    ASSERT_TRUE((*log)->flush(fakes::at_s(1), recording.components));
  }
  const auto replay = ReplayBackend::open(path);
  ASSERT_TRUE(replay);
  const Telemetry telemetry = (*replay)->telemetry();
  const auto first = telemetry.overlay.walk(flow, fakes::at_s(1));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::kPending);
  EXPECT_TRUE(telemetry.overlay.walk(flow, fakes::at_s(1)));
  EXPECT_TRUE(telemetry.overlay.walk(flow, fakes::at_s(1)));
}

TEST(Replay, SaysUnavailableWhereNothingWasAsked) {
  ReplayOnBench bench(FakeOnBench::Answers::kPrompt);
  Telemetry telemetry = bench.telemetry();
  const FlowKey flow{EndpointId(0), EndpointId(2), 1};
  const auto path = telemetry.paths.trace(flow, fakes::at_s(2));
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(telemetry.membership.alive(EndpointId(0), fakes::at_s(2)), AgentState::kUnknown);
}

}  // namespace
}  // namespace conformance
}  // namespace bonescan
