#include "model/backend_sim/sim_probes.h"

#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Two hosts; endpoint 0 visits endpoint 2 and back.
class SimProbesTest : public testing::TestWithParam<ProbeEvaluation> {
 public:
  void stop_agent_of_source(std::uint64_t /*unused*/) { world_.stop_agent(host(0)); }

 protected:
  SimProbesTest()
      : world_(options(), engine_), endpoints_(world_), probes_(world_, endpoints_, GetParam(), 1) {
    probes_.advance(at_ms(20'000));
  }

  static Time at_ms(std::int64_t ms) { return kStartOfRun + milliseconds(ms); }

  static WorldOptions options() {
    WorldOptions options;
    options.fabric = {.segments = 1, .hosts_per_segment = 2, .rails = 2, .aggregation_switches = 1};
    options.latency.base_loss_ratio = 0.0;
    options.jobs = {{.gpus = 4, .tp = 4, .pp = 1, .dp = 1, .ready_spread = seconds(10)}};
    return options;
  }

  void submit(std::uint32_t source, Time start) {
    const ProbeRequest request{.pair = PairId(source / 2),
                               .ends = {EndpointId(source), EndpointId(2 - source)},
                               .start = start,
                               .spacing = milliseconds(100),
                               .timeout = milliseconds(500),
                               .source_port = 50'000,
                               .count = 10};
    probes_.submit(std::span(&request, 1));
  }

  ProbeBatch collect(Time now) {
    ProbeBatch batch;
    probes_.collect(now, batch);
    return batch;
  }

  HostId host(std::uint32_t endpoint) const {
    return world_.fabric().host_of(endpoints_.rnic(EndpointId(endpoint)));
  }

  Engine engine_;
  World world_;
  EndpointMap endpoints_;
  SimProbes probes_;
};

TEST_P(SimProbesTest, ReportsAVisitOnceWhenItsLastAnswerIsIn) {
  submit(0, at_ms(20'050));
  EXPECT_TRUE(collect(at_ms(20'950)).visits.empty()) << "the last probe is just being sent";
  const ProbeBatch batch = collect(at_ms(20'960));
  ASSERT_EQ(batch.visits.size(), 1u);
  ASSERT_EQ(batch.rtt_ns.size(), 10u);
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(answered(batch.rtt_ns[i]));
    EXPECT_EQ(batch.sent_after_ns[i], i * 100'000'000);
  }
  EXPECT_TRUE(collect(at_ms(30'000)).visits.empty());
}

TEST_P(SimProbesTest, WaitsForTheTimeoutOfALostProbe) {
  world_.stop_agent(host(2));
  submit(0, at_ms(20'050));
  EXPECT_TRUE(collect(at_ms(21'449)).visits.empty());
  const ProbeBatch batch = collect(at_ms(21'450));
  ASSERT_EQ(batch.visits.size(), 1u);
  EXPECT_EQ(batch.rtt_ns, std::vector<std::uint32_t>(10, kLostRtt));
}

/// What a dead agent measured dies with it; what it answers to others is lost.
TEST_P(SimProbesTest, VisitOfAnAgentThatDiesIsNeverReported) {
  submit(0, at_ms(20'050));
  submit(2, at_ms(20'060));
  engine_.schedule(
      at_ms(20'500), EventPriority::kFault, action<&SimProbesTest::stop_agent_of_source>(*this));
  const ProbeBatch batch = collect(at_ms(25'000));
  ASSERT_EQ(batch.visits.size(), 1u);
  EXPECT_EQ(batch.visits[0].pair, PairId(1));
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(answered(batch.rtt_ns[i]), i < 5) << i;
  }
  world_.start_agent(host(0));
  submit(0, at_ms(25'100));
  EXPECT_EQ(collect(at_ms(27'000)).visits.size(), 1u);
}

/// Visits of both directions that overlap in time are evaluated in the order of their probes.
TEST_P(SimProbesTest, FirstProbeOfEitherDirectionPaysTheUpcall) {
  submit(2, at_ms(20'060));
  submit(0, at_ms(20'050));
  const ProbeBatch batch = collect(at_ms(22'000));
  ASSERT_EQ(batch.visits.size(), 2u);
  EXPECT_EQ(batch.visits[0].pair, PairId(0)) << "ordered by start";
  EXPECT_GT(batch.rtts(batch.visits[0])[0], 1'000'000u);
  EXPECT_LT(batch.rtts(batch.visits[1])[0], 200'000u);
}

INSTANTIATE_TEST_SUITE_P(Modes,
                         SimProbesTest,
                         testing::Values(ProbeEvaluation::kBatch, ProbeEvaluation::kEventPerProbe));

}  // namespace
}  // namespace bonescan
