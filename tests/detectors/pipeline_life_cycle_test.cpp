// Incidents over time, and what the order of calls may not change.
#include "tests/support/pipeline_bench.h"

#include <random>

namespace bonescan::fakes {
namespace {

using testing::SizeIs;

FakeEffect dead(FlowPredicate hits, std::int64_t from_s, std::int64_t to_s) {
  return {.from = at_s(from_s), .to = at_s(to_s), .hits = std::move(hits), .lose_one_in = 1};
}

TEST(PipelineLifeCycle, MergesAFlapAndClosesAfterSilence) {
  PipelineBench bench(4);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 20, 25));
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 75, 80));
  bench.run(200);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_LT(incident.opened, at_s(24));
  EXPECT_GE(incident.last_seen, at_s(79));
  EXPECT_LE(incident.last_seen, at_s(81));
  ASSERT_TRUE(incident.closed.has_value());
  // Closed in the first turn in which the silence has lasted close_after.
  EXPECT_GE(*incident.closed - incident.last_seen, bench.options.incident.close_after);
  EXPECT_LT(*incident.closed - incident.last_seen,
            bench.options.incident.close_after + bench.options.probing.visit);
}

TEST(PipelineLifeCycle, OpensANewIncidentLongAfterTheOldOneIsClosed) {
  PipelineBench bench(4);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 20, 25));
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 650, 655));
  bench.run(700);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(2));
  const Incident& first = bench.incidents()[0];
  const Incident& second = bench.incidents()[1];
  EXPECT_NE(first.id, second.id);
  ASSERT_TRUE(first.closed.has_value());
  EXPECT_LT(*first.closed, at_s(650));
  EXPECT_LT(first.last_seen, at_s(27));
  EXPECT_FALSE(second.closed.has_value());
}

TEST(PipelineLifeCycle, KeepsAnUnfinishedIncidentOpenAtTheEnd) {
  PipelineBench bench(4);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 20, 1000));
  bench.run(60);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_FALSE(bench.incidents().front().closed.has_value());
  EXPECT_GE(bench.incidents().front().last_seen, at_s(59));
}

/// The loop of run_loop(), with the visits of every batch in another order.
std::string run_shuffled(std::uint32_t shuffle_seed) {
  PipelineBench bench(6);
  bench.world.all_ready(kStartOfRun);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 30, 60));
  bench.world.effects.push_back(dead(between(EndpointId(0), EndpointId(5)), 40, 90));
  for (const std::uint32_t agent : {0u, 1u, 3u, 4u, 5u}) {
    bench.world.effects.push_back(
        dead([agent](const FlowKey& flow) { return flow.target == EndpointId(agent); }, 80, 95));
  }
  const Telemetry telemetry = bench.world.telemetry();
  Pipeline pipeline(bench.options, telemetry);
  std::mt19937 random(shuffle_seed);
  std::vector<ProbeRequest> requests;
  std::vector<MembershipEvent> events;
  ProbeBatch batch;
  for (std::int64_t second = 0; second < 150; ++second) {
    if (second == 79) {
      for (const std::uint32_t agent : {0u, 1u, 3u, 4u, 5u}) {
        bench.world.agents[EndpointId(agent)] = AgentState::kDead;
      }
    }
    events.clear();
    requests.clear();
    batch.clear();
    telemetry.membership.collect(at_s(second), events);
    pipeline.membership(events);
    pipeline.plan(at_s(second), requests);
    telemetry.probes.submit(requests);
    const Time later = at_s(second) + bench.options.probing.timeout;
    telemetry.probes.collect(later, batch);
    if (shuffle_seed != 0) {
      std::shuffle(batch.visits.begin(), batch.visits.end(), random);
    }
    pipeline.observe(later, batch);
    pipeline.poll(later);
  }
  pipeline.finish(at_s(650));
  return summary(pipeline.incidents(), bench.world.components);
}

// Bug: with several agents dead in one batch, whose incident came first followed the order of
// visits.
TEST(PipelineLifeCycle, IsTheSameInAnyOrderOfTheVisitsOfABatch) {
  const std::string ordered = run_shuffled(0);
  ASSERT_NE(ordered, "");
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    EXPECT_EQ(run_shuffled(seed), ordered) << "seed=" << seed;
  }
}

TEST(PipelineLifeCycle, SaysTheSameTwice) {
  EXPECT_EQ(run_shuffled(0), run_shuffled(0));
}

TEST(PipelineLifeCycle, ReportsEveryChangeOfAnIncidentOnce) {
  PipelineBench bench(4);
  bench.world.all_ready(kStartOfRun);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 5, 8));
  const Telemetry telemetry = bench.world.telemetry();
  Pipeline pipeline(bench.options, telemetry);
  std::size_t opened_at = 0;
  std::size_t reports = 0;
  RunLoopHooks hooks;
  hooks.updates = [&](Time now, const PipelineUpdates& fresh) {
    reports += fresh.incidents.size();
    if (!fresh.incidents.empty() && opened_at == 0) {
      opened_at = static_cast<std::size_t>(nanoseconds(now));
      EXPECT_EQ(pipeline.incidents().at(fresh.incidents.front()).opened, now);
    }
    EXPECT_THAT(pipeline.take_updates().incidents, SizeIs(0));
  };
  run_loop(pipeline, telemetry, bench.options.probing, at_s(150), hooks);
  EXPECT_GT(opened_at, 0u);
  // Opened, some visits more, refined, closed: not once per turn.
  EXPECT_GE(reports, 2u);
  EXPECT_LE(reports, 12u);
}

}  // namespace
}  // namespace bonescan::fakes
