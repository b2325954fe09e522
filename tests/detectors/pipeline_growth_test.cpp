// Tasks that come and go while the pipeline runs.
#include "tests/support/pipeline_bench.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace bonescan::fakes {
namespace {

using testing::SizeIs;

FakeEffect dead(FlowPredicate hits, std::int64_t from_s, std::int64_t to_s) {
  return {.from = at_s(from_s), .to = at_s(to_s), .hits = std::move(hits), .lose_one_in = 1};
}

/// Between two of the endpoints [first, first + count).
FlowPredicate within(EndpointRange range, FlowPredicate also = every_flow()) {
  return [=](const FlowKey& flow) {
    return flow.source.index() - range.first.index() < range.count && also(flow);
  };
}

/// Something for every stage: silent pairs, a broken rule, slow answers, a dead agent.
void break_things(PipelineBench& bench) {
  FakeTelemetry& world = bench.world;
  world.effects.push_back(dead(to_endpoint(EndpointId(2)), 40, 70));
  world.effects.push_back(dead(between(EndpointId(0), EndpointId(5)), 200, 230));
  world.effects.push_back({.from = at_s(420),
                           .to = at_s(560),
                           .hits = to_endpoint(EndpointId(1)),
                           .extra = std::chrono::microseconds(120)});
  world.effects.push_back(dead(to_endpoint(EndpointId(4)), 640, 660));
  world.walk_script = [&world](const FlowKey& flow, Time now) -> Expected<OverlayWalk> {
    return flow.target == EndpointId(5) && now < at_s(300) ? world.broken_walk(flow)
                                                           : world.healthy_walk(flow);
  };
  bench.at(639, [&world] { world.agents[EndpointId(4)] = AgentState::kDead; });
  bench.at(665, [&world] { world.agents.clear(); });
}

using RequestFields = std::tuple<PairId, Pair, Time, std::uint16_t, std::uint8_t>;

std::vector<RequestFields> fields(const std::vector<ProbeRequest>& requests) {
  std::vector<RequestFields> all;
  all.reserve(requests.size());
  for (const ProbeRequest& r : requests) {
    all.emplace_back(r.pair, r.ends, r.start, r.source_port, r.count);
  }
  return all;
}

TEST(PipelineGrowth, ATaskLearntByEventsIsATaskOfTheDirectory) {
  PipelineBench known(6);
  break_things(known);
  known.run(800);
  PipelineBench submitted{EndpointDirectory()};
  submitted.announce_all = false;
  const EndpointRange task = submitted.world.submit(kStartOfRun, fake_endpoints(6, 1));
  submitted.world.announce(kStartOfRun, task, MembershipKind::kReady);
  break_things(submitted);
  submitted.run(800);
  EXPECT_THAT(known.incidents(), testing::SizeIs(testing::Ge(4U)));
  EXPECT_EQ(summary(known.incidents(), known.world.components),
            summary(submitted.incidents(), submitted.world.components));
  EXPECT_TRUE(std::equal(known.pipeline().pairs().begin(),
                         known.pipeline().pairs().end(),
                         submitted.pipeline().pairs().begin()));
  EXPECT_EQ(fields(known.world.requests), fields(submitted.world.requests));
  EXPECT_EQ(known.verdicts.size(), submitted.verdicts.size());
  EXPECT_EQ(known.pipeline().skeleton().pairs_full_mesh,
            submitted.pipeline().skeleton().pairs_full_mesh);
  EXPECT_EQ(known.pipeline().skeleton().rnics, submitted.pipeline().skeleton().rnics);
}

TEST(PipelineGrowth, AnotherTaskChangesNothingForTheFirst) {
  PipelineBench alone(6);
  break_things(alone);
  alone.run(800);
  PipelineBench together(6);
  together.announce_all = false;
  FakeTelemetry& world = together.world;
  world.all_ready(kStartOfRun);
  for (const std::int64_t start : {10, 150, 410}) {
    const EndpointRange task = world.submit(at_s(start), fake_task("other", 6, 8, 1));
    world.announce(at_s(start + 5), task, MembershipKind::kReady);
    world.announce(at_s(start + 100), task, MembershipKind::kStopping);
    world.announce(at_s(start + 101), task, MembershipKind::kGone);
  }
  break_things(together);
  together.run(800);
  EXPECT_EQ(summary(alone.incidents(), alone.world.components),
            summary(together.incidents(), world.components));
  EXPECT_EQ(alone.verdicts.size(), together.verdicts.size());
  std::vector<ProbeRequest> of_first;
  std::copy_if(world.requests.begin(),
               world.requests.end(),
               std::back_inserter(of_first),
               [](const ProbeRequest& request) { return request.ends.source.index() < 6; });
  EXPECT_EQ(fields(alone.world.requests), fields(of_first));
  EXPECT_GT(world.requests.size(), of_first.size() + 3 * 8 * 90);
  const PipelineMemory memory = together.pipeline().memory();
  EXPECT_EQ(memory.tasks, 1U);
  EXPECT_EQ(memory.sources, 6U);
  EXPECT_EQ(memory.pairs, 30U + 3 * 56U);
  EXPECT_EQ(memory.endpoints, 30U);
}

TEST(PipelineGrowth, FindsWhatBreaksInATaskThatCameLater) {
  PipelineBench bench(4);
  bench.announce_all = false;
  bench.world.all_ready(kStartOfRun);
  const EndpointRange task = bench.world.submit(at_s(30), fake_task("late", 4, 6, 1));
  bench.world.announce(at_s(40), task, MembershipKind::kReady);
  bench.world.effects.push_back(dead(within(task, to_endpoint(task[3])), 60, 90));
  bench.world.effects.push_back(dead(to_endpoint(task[3]), 60, 90));
  bench.run(200);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_LT(bench.incidents().front().opened, at_s(66));
  EXPECT_EQ(bench.name(bench.incidents().front().candidates.front().component),
            "link(" + bench.world.endpoints()[task[3]].name + ", " +
                bench.world.endpoints()[task[3]].tor + ")");
}

TEST(PipelineGrowth, TasksOfOneNameAreNotMixed) {
  PipelineBench bench{EndpointDirectory()};
  bench.announce_all = false;
  const EndpointRange one = bench.world.submit(at_s(1), fake_task("again", 0, 2, 1));
  const EndpointRange two = bench.world.submit(at_s(2), fake_task("again", 2, 2, 1));
  bench.world.announce(at_s(3), one, MembershipKind::kReady);
  bench.world.announce(at_s(3), two, MembershipKind::kReady);
  bench.run(20);
  std::set<Pair> probed;
  for (const ProbeRequest& request : bench.world.requests) {
    probed.insert(request.ends);
  }
  EXPECT_EQ(
      probed,
      (std::set<Pair>{{one[0], one[1]}, {one[1], one[0]}, {two[0], two[1]}, {two[1], two[0]}}));
  EXPECT_EQ(bench.pipeline().pairs().size(), 4U);
  EXPECT_EQ(bench.pipeline().skeleton().pairs_same_rail, 4U);
}

TEST(PipelineGrowth, SubmittedInOneTurnAndTwoTasksAreTwoTasks) {
  PipelineBench bench{EndpointDirectory()};
  bench.announce_all = false;
  bench.world.submit(at_ms(1100), fake_task("a", 0, 2, 1));
  const EndpointRange b = bench.world.submit(at_ms(1100), fake_task("b", 2, 3, 1));
  bench.world.announce(at_ms(1200), b, MembershipKind::kReady);
  bench.run(5);
  EXPECT_EQ(bench.pipeline().memory().tasks, 2U);
  EXPECT_EQ(bench.pipeline().pairs().size(), 2U + 6U);
  EXPECT_EQ(bench.world.requests.size(), 3U * 3U);
}

TEST(PipelineGrowth, AnIncidentOfAnEndedTaskClosesByItsSilence) {
  PipelineBench bench(2);
  bench.announce_all = false;
  bench.world.all_ready(kStartOfRun);
  const EndpointRange task = bench.world.submit(at_s(5), fake_task("short", 2, 6, 1));
  bench.world.announce(at_s(6), task, MembershipKind::kReady);
  bench.world.effects.push_back(dead(to_endpoint(task[2]), 30, 1000));
  bench.world.announce(at_s(60), task, MembershipKind::kGone);
  bench.run(400);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_GT(incident.last_seen, at_s(58));
  EXPECT_LT(incident.last_seen, at_s(61));
  ASSERT_TRUE(incident.closed.has_value());
  EXPECT_GE(*incident.closed - incident.last_seen, bench.options.incident.close_after);
  EXPECT_LT(*incident.closed - incident.last_seen,
            bench.options.incident.close_after + bench.options.probing.visit);
  EXPECT_FALSE(incident.pairs.empty());
  EXPECT_EQ(bench.pipeline().memory().tasks, 1U);
}

TEST(PipelineGrowth, AContainerThatRestartsWhileOthersLiveKeepsItsTask) {
  PipelineBench bench{EndpointDirectory()};
  bench.announce_all = false;
  const EndpointRange task = bench.world.submit(at_s(1), fake_task("job", 0, 3, 1));
  bench.world.announce(at_s(2), task, MembershipKind::kReady);
  bench.world.announce(at_s(20), task[0], MembershipKind::kGone);
  bench.world.announce(at_s(21), task[1], MembershipKind::kGone);
  bench.world.announce(at_s(180), task[0], MembershipKind::kReady);
  bench.run(200);
  EXPECT_EQ(bench.pipeline().memory().tasks, 1U);
  EXPECT_EQ(bench.pipeline().skeleton().pairs_probed, 2U);
  EXPECT_EQ(bench.world.requests.back().start > at_s(198), true);
}

TEST(PipelineGrowth, VisitsOfAReleasedTaskAreLeftOut) {
  FakeTelemetry world(fake_endpoints(2, 1));
  const Telemetry telemetry = world.telemetry();
  const PipelineOptions options;
  Pipeline pipeline(options, telemetry);
  const auto tell = [&](Time at, MembershipKind kind) {
    const MembershipEvent events[] = {{at, EndpointId(0), kind}, {at, EndpointId(1), kind}};
    pipeline.membership(events);
  };
  tell(kStartOfRun, MembershipKind::kReady);
  tell(at_s(1), MembershipKind::kGone);
  ProbeBatch late;
  late.visits.push_back({.pair = PairId(0), .start = at_ms(500), .first = 0, .count = 2});
  late.rtt_ns = {kLostRtt, kLostRtt};
  late.sent_after_ns = {0, 1000};
  pipeline.poll(at_s(2));
  EXPECT_GT(pipeline.memory().held_bytes, 0U);
  pipeline.observe(at_s(3), late);
  EXPECT_THAT(world.traced, SizeIs(1)) << "it may still be evidence";
  pipeline.poll(at_s(100));
  // 64 ids make a page: of these two the pages stay until the others of their page are gone too.
  pipeline.observe(at_s(101), late);
  pipeline.poll(at_s(102));
  EXPECT_THAT(world.traced, SizeIs(1));
  tell(at_s(103), MembershipKind::kReady);
  std::vector<ProbeRequest> requests;
  pipeline.plan(at_s(104), requests);
  EXPECT_THAT(requests, SizeIs(0)) << "an ended task does not come back";
}

// Bug: samples of a pair that was forgotten in the middle of a window were put among those of
// others.
TEST(PipelineGrowth, AnEndedTaskThatIsStillHeardIsKeptUntilItIsSilent) {
  FakeTelemetry world(fake_endpoints(2, 1));
  const Telemetry telemetry = world.telemetry();
  Pipeline pipeline(PipelineOptions{}, telemetry);
  const auto tell = [&](Time at, MembershipKind kind) {
    const MembershipEvent events[] = {{at, EndpointId(0), kind}, {at, EndpointId(1), kind}};
    pipeline.membership(events);
  };
  tell(kStartOfRun, MembershipKind::kReady);
  tell(at_s(1), MembershipKind::kGone);
  for (std::int64_t second = 1; second <= 200; ++second) {
    ProbeBatch batch;
    batch.visits.push_back({.pair = PairId(1), .start = at_s(second - 1), .first = 0, .count = 2});
    batch.rtt_ns = {16'000, second % 50 == 0 ? kLostRtt : 16'100};
    batch.sent_after_ns = {0, 1000};
    pipeline.observe(at_s(second), batch);
    pipeline.poll(at_s(second));
  }
  std::uint64_t probes = 0;
  for (const WindowRecord& window : pipeline.take_updates().windows) {
    probes += window.probes;
  }
  EXPECT_EQ(probes, 2U * 180U) << "six windows are closed";
  for (std::int64_t second = 201; second <= 330; ++second) {
    pipeline.poll(at_s(second));
  }
  ProbeBatch late;
  late.visits.push_back({.pair = PairId(1), .start = at_s(329), .first = 0, .count = 1});
  late.rtt_ns = {16'000};
  late.sent_after_ns = {0};
  pipeline.observe(at_s(330), late);
  pipeline.poll(at_s(400));
  probes = 0;
  for (const WindowRecord& window : pipeline.take_updates().windows) {
    probes += window.probes;
  }
  EXPECT_EQ(probes, 2U * 20U) << "and then it is released";
}

}  // namespace
}  // namespace bonescan::fakes
