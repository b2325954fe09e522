// Lost probes to incidents, on the fake telemetry: no simulator is linked.
#include "tests/support/pipeline_bench.h"

#include <algorithm>

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::SizeIs;
using testing::UnorderedElementsAre;

FakeEffect dead(FlowPredicate hits, std::int64_t from_s, Time to = kForever) {
  return {.from = at_s(from_s), .to = to, .hits = std::move(hits), .lose_one_in = 1};
}

/// One probe of ten is lost in the one visit that the pair has in [from, from + sweep).
FakeEffect one_lossy_visit(std::uint32_t source,
                           std::uint32_t target,
                           std::int64_t from_s,
                           std::int64_t sweep_s) {
  return {.from = at_s(from_s),
          .to = at_s(from_s + sweep_s),
          .hits = between(EndpointId(source), EndpointId(target)),
          .lose_one_in = 10};
}

TEST(PipelineLoss, ReportsNothingInAHealthyWorld) {
  PipelineBench bench(4, 2);
  bench.run(120);
  EXPECT_THAT(bench.incidents(), SizeIs(0));
  EXPECT_THAT(bench.verdicts, SizeIs(0));
  EXPECT_GT(bench.windows.size(), 3u);
}

// Walk clear, tables match, no second pair: it is reported at once with every link that only this
// pair's probes could have accused.
TEST(PipelineLoss, NamesTheLinksOfADeadPairAlone) {
  PipelineBench bench(4);
  bench.options.follow_up.probes_per_round = 0;  // They would say that it is none of these links.
  bench.world.effects.push_back(dead(between(EndpointId(0), EndpointId(1)), 20));
  bench.run(40);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.symptom, Symptom::kUnreachable);
  EXPECT_THAT(bench.candidates(incident),
              UnorderedElementsAre(bench.world.access_link(EndpointId(0)),
                                   bench.world.access_link(EndpointId(1))));
  EXPECT_DOUBLE_EQ(incident.confidence, 0.5);
  EXPECT_THAT(incident.pairs, ElementsAre(bench.pair(0, 1)));
  // One sweep (3 s) to be visited, and the turn in which it is said.
  EXPECT_GE(incident.opened, at_ms(21'500));
  EXPECT_LE(incident.opened, at_ms(24'500));
  for (const char* stage : {"overlay-walk", "underlay-vote", "flow-table-diff"}) {
    SCOPED_TRACE(stage);
    const Evidence* line = PipelineBench::line(incident, stage);
    ASSERT_NE(line, nullptr);
    EXPECT_TRUE(line->clear);
  }
  ASSERT_NE(PipelineBench::line(incident, "loss-rule"), nullptr);
  EXPECT_FALSE(PipelineBench::line(incident, "loss-rule")->clear);
}

TEST(PipelineLoss, NamesTheAccessLinkWithinTwoVisitsWhenAnRnicIsDead) {
  PipelineBench bench(4, 2);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(3)), 20));
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_LE(incident.opened,
            at_s(20) + 2 * bench.options.probing.visit + at_ms(500).time_since_epoch());
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.kind, "link-down");
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.world.access_link(EndpointId(3))));
  EXPECT_THAT(incident.pairs, SizeIs(6));
  EXPECT_TRUE(PipelineBench::line(incident, "overlay-walk")->clear);
}

// Only one of the two rails' RNICs is dead: the other endpoint of the host keeps out of it.
TEST(PipelineLoss, LeavesTheOtherRailOut) {
  PipelineBench bench(4, 2);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(3)), 20));
  bench.run(60);
  for (const PairId pair : bench.incidents().at(0).pairs) {
    const Pair ends = bench.pipeline().pairs()[pair];
    EXPECT_TRUE(ends.source == EndpointId(3) || ends.target == EndpointId(3));
  }
}

TEST(PipelineLoss, NamesTheRuleThatTheWalkFindsMissing) {
  PipelineBench bench(4);
  const ComponentId rule = bench.world.components.intern(
      ComponentType::kRule, "host-2.01/br-int table=20 vni=100,dst=10.0.2.1");
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 20));
  bench.world.walk_script = [&](const FlowKey& flow, Time) -> Expected<OverlayWalk> {
    OverlayWalk walk = bench.world.healthy_walk(flow);
    if (flow.target == EndpointId(2)) {
      walk.end = WalkEnd::kNoNextHop;
      walk.culprit = rule;
      walk.reason = "table miss";
    }
    return walk;
  };
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kOverlay);
  EXPECT_EQ(incident.kind, "missing-rule");
  EXPECT_THAT(bench.candidates(incident), ElementsAre(rule));
  EXPECT_THAT(incident.pairs, SizeIs(6));  // The other pairs of the rule joined it.
  EXPECT_LE(incident.opened, at_ms(21'500));
  EXPECT_FALSE(PipelineBench::line(incident, "overlay-walk")->clear);
  EXPECT_THAT(bench.world.dumped, SizeIs(0));  // The tables were never asked: the walk had proof.
}

TEST(PipelineLoss, OpensNothingForOneLossyVisit) {
  PipelineBench bench(6);
  bench.world.effects.push_back(one_lossy_visit(0, 2, 70, 5));
  bench.run(140);
  EXPECT_THAT(bench.incidents(), SizeIs(0));
  std::uint64_t lost = 0;
  for (const WindowRecord& window : bench.windows) {
    lost += window.lost;
  }
  EXPECT_EQ(lost, 1u);
}

// Five pairs that share one link lose one probe each within 20 s: 3.2 visits a second cross it.
// The test for 0.3 % gains 5.68 nats a lossy visit and loses 0.03 a clean one: four come to
// 22.7 - 1.4, five to 28.4 - 1.9, and 23.8 are needed.
// Routing went around it before the visit was over: the pair answers again, and was cut off.
TEST(PipelineLoss, ReportsASilenceThatEndsWithinItsVisit) {
  PipelineBench bench(6);
  bench.world.effects.push_back({.from = at_ms(20'150),
                                 .to = at_ms(20'850),
                                 .hits = to_endpoint(EndpointId(3)),
                                 .lose_one_in = 1});
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().layer, Layer::kUnderlay);
  EXPECT_LE(bench.incidents().front().opened, at_s(23));
}

TEST(PipelineLoss, OpensNothingForFiveProbesInARow) {
  PipelineBench bench(6);
  bench.world.effects.push_back({.from = at_ms(20'150),
                                 .to = at_ms(20'650),
                                 .hits = between(EndpointId(3), EndpointId(4)),
                                 .lose_one_in = 1});
  bench.world.effects.push_back({.from = at_ms(25'150),
                                 .to = at_ms(25'650),
                                 .hits = between(EndpointId(3), EndpointId(4)),
                                 .lose_one_in = 1});
  bench.run(60);
  EXPECT_THAT(bench.incidents(), SizeIs(0)) << summary(bench.incidents(), bench.world.components);
}

TEST(PipelineLoss, PoolsTheFirstLossesOfPairsThatShareALink) {
  const auto run = [](int losses) {
    auto bench = std::make_unique<PipelineBench>(6);
    bench->options.follow_up.probes_per_round = 0;  // Second looks would meet the same loss.
    const std::uint32_t pairs[5][2] = {{0, 2}, {4, 1}, {3, 0}, {1, 5}, {2, 1}};
    for (int i = 0; i < losses; ++i) {
      bench->world.effects.push_back(one_lossy_visit(pairs[i][0], pairs[i][1], 70 + 5 * i, 5));
    }
    bench->run(140);
    return bench;
  };
  EXPECT_THAT(run(4)->incidents(), SizeIs(0));
  const auto bench = run(5);
  SCOPED_TRACE(summary(bench->incidents(), bench->world.components));
  ASSERT_THAT(bench->incidents(), SizeIs(1));
  const Incident& incident = bench->incidents().front();
  EXPECT_EQ(incident.symptom, Symptom::kLoss);
  EXPECT_EQ(incident.kind, "link-loss");
  EXPECT_EQ(incident.candidates.front().component, bench->fabric_link("tor-1.0"));
  EXPECT_GE(incident.opened, at_s(90));
  EXPECT_LE(incident.opened, at_s(96));
  EXPECT_THAT(incident.pairs, SizeIs(5));
  for (const Verdict& verdict : bench->verdicts) {
    EXPECT_EQ(verdict.rule, VerdictRule::kPooledLoss);
  }
  EXPECT_THAT(bench->verdicts, SizeIs(5));
}

// The first silent pair opens the incident alone; when others fail on the same cable it is the same
// incident that names it.
TEST(PipelineLoss, GrowsALonePairIntoTheIncidentOfItsLink) {
  PipelineBench bench(6);
  bench.options.follow_up.probes_per_round = 0;  // They would call the pair one of its own.
  bench.world.effects.push_back(dead(between(EndpointId(0), EndpointId(3)), 20));
  const FlowPredicate over_the_uplink = [](const FlowKey& flow) {
    return (flow.source < EndpointId(2)) != (flow.target < EndpointId(2));
  };
  bench.world.effects.push_back(dead(over_the_uplink, 30));
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_LE(incident.opened, at_ms(26'500));
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.kind, "link-down");
  EXPECT_EQ(incident.candidates.front().component, bench.fabric_link("tor-1.0"));
  EXPECT_THAT(incident.pairs, SizeIs(16));
}

// Where the tables have no answer, the pair is reported all the same and nothing is named.
TEST(PipelineLoss, OpensALonePairUndeterminedWhileItsTablesAreUnread) {
  PipelineBench bench(4);
  bench.world.effects.push_back(dead(between(EndpointId(0), EndpointId(1)), 20));
  bench.world.dump_script = [](EndpointId, std::span<const FlowKey>, Time) {
    return Expected<FlowTableDump>(fail(ErrorCode::kUnavailable, "no access"));
  };
  bench.run(24);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().layer, Layer::kUndetermined);
  EXPECT_EQ(bench.incidents().front().kind, "unreachable-pair");
  EXPECT_LE(bench.incidents().front().opened, at_ms(24'500));
}

TEST(PipelineLoss, CallsADeadAgentAnAgentAndKeepsQuietForTenSecondsAfter) {
  PipelineBench bench(4);
  FlowPredicate towards = [](const FlowKey& flow) { return flow.target == EndpointId(2); };
  bench.world.effects.push_back(dead(towards, 20, at_s(47)));
  bench.at(19, [&] { bench.world.agents[EndpointId(2)] = AgentState::kDead; });
  bench.at(39, [&] { bench.world.agents[EndpointId(2)] = AgentState::kAlive; });
  bench.run(80);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kAgent);
  EXPECT_EQ(incident.kind, "agent-death");
  EXPECT_EQ(bench.name(incident.candidates.at(0).component), "host-2.01/agent");
  EXPECT_THAT(incident.pairs, SizeIs(3));
  EXPECT_THAT(bench.verdicts, SizeIs(0));
  EXPECT_THAT(bench.world.walked, SizeIs(0));
}

// The excuse ends: ten seconds after the agent was last found dead, silence is a failure again.
TEST(PipelineLoss, ReportsSilenceThatOutlastsADeadAgent) {
  PipelineBench bench(4);
  FlowPredicate towards = [](const FlowKey& flow) { return flow.target == EndpointId(2); };
  bench.world.effects.push_back(dead(towards, 20));
  bench.at(19, [&] { bench.world.agents[EndpointId(2)] = AgentState::kDead; });
  bench.at(39, [&] { bench.world.agents[EndpointId(2)] = AgentState::kAlive; });
  bench.run(80);
  ASSERT_THAT(bench.incidents(), SizeIs(2));
  EXPECT_EQ(bench.incidents()[0].layer, Layer::kAgent);
  EXPECT_NE(bench.incidents()[1].layer, Layer::kAgent);
  EXPECT_GE(bench.incidents()[1].opened, at_s(49));
}

TEST(PipelineLoss, TakesAnUnknownAgentForNoExcuse) {
  PipelineBench bench(4);
  bench.world.agents[EndpointId(2)] = AgentState::kUnknown;
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 20));
  bench.run(40);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().layer, Layer::kUnderlay);
}

TEST(PipelineLoss, ExcusesAPlannedStop) {
  PipelineBench bench(4);
  bench.announce_all = false;
  bench.world.all_ready(kStartOfRun);
  bench.world.events.push_back({at_s(20), EndpointId(2), MembershipKind::kStopping});
  bench.world.effects.push_back(
      {.from = at_ms(19'000), .hits = to_endpoint(EndpointId(2)), .lose_one_in = 1});
  bench.run(60);
  EXPECT_THAT(bench.incidents(), SizeIs(0)) << summary(bench.incidents(), bench.world.components);
  for (const ProbeRequest& request : bench.world.requests) {
    if (request.ends.source == EndpointId(2) || request.ends.target == EndpointId(2)) {
      EXPECT_LT(request.start, at_s(20));
    }
  }
}

TEST(PipelineLoss, NeverProbesAContainerThatIsNotReady) {
  PipelineBench bench(4);
  bench.announce_all = false;
  for (const std::uint32_t ready : {0u, 1u, 3u}) {
    bench.world.events.push_back({at_s(2), EndpointId(ready), MembershipKind::kReady});
  }
  bench.run(30);
  EXPECT_THAT(bench.world.requests, testing::Not(SizeIs(0)));
  for (const ProbeRequest& request : bench.world.requests) {
    EXPECT_GE(request.start, at_s(2));
    EXPECT_NE(request.ends.source, EndpointId(2));
    EXPECT_NE(request.ends.target, EndpointId(2));
  }
}

// Its agent has said so, but does not answer yet.
TEST(PipelineLoss, WaitsForAnEndpointThatHasJustBecomeReady) {
  for (const bool stays : {false, true}) {
    SCOPED_TRACE(stays);
    PipelineBench bench(6, 1);
    bench.announce_all = false;
    bench.world.all_ready(kStartOfRun);
    bench.world.events[3].at = at_s(30);
    std::rotate(
        bench.world.events.begin() + 3, bench.world.events.begin() + 4, bench.world.events.end());
    bench.world.effects.push_back(
        dead(to_endpoint(EndpointId(3)), 30, stays ? kForever : at_ms(31'900)));
    bench.run(60);
    SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
    ASSERT_THAT(bench.incidents(), SizeIs(stays ? 1 : 0));
    if (stays) {
      EXPECT_GE(bench.incidents().front().opened, at_s(32));
      EXPECT_LE(bench.incidents().front().opened, at_s(35));
    }
  }
}

TEST(PipelineLoss, NeverTakesALocalErrorForLoss) {
  PipelineBench bench(4);
  bench.world.effects.push_back(
      {.from = at_s(20), .hits = to_endpoint(EndpointId(2)), .local_error = true});
  bench.run(90);
  EXPECT_THAT(bench.incidents(), SizeIs(0));
  EXPECT_THAT(bench.verdicts, SizeIs(0));
  ASSERT_THAT(bench.windows, testing::Not(SizeIs(0)));
  std::uint64_t errors = 0;
  for (const WindowRecord& window : bench.windows) {
    EXPECT_EQ(window.lost, 0u);
    errors += window.local_errors;
  }
  EXPECT_GT(errors, 500u);
}

// Connections to the old address are cut off, though every probe finds the new one.
TEST(PipelineLoss, ReportsAChangedGidThatNoProbeNotices) {
  PipelineBench bench(4);
  bench.options.incident.close_after = std::chrono::seconds(10);
  bench.at(20, [&] {
    bench.world.events.push_back({at_s(21),
                                  EndpointId(2),
                                  MembershipKind::kAddressChanged,
                                  "::ffff:1.1.1.1 -> ::ffff:2.2.2.2"});
  });
  bench.world.effects.push_back(
      {.from = at_s(22), .to = at_s(24), .hits = to_endpoint(EndpointId(2)), .lose_one_in = 1});
  bench.run(90);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.kind, "gid-change");
  EXPECT_EQ(incident.layer, Layer::kRnic);
  EXPECT_EQ(incident.opened, at_s(21));
  EXPECT_EQ(incident.candidates.at(0).component, bench.world.rnic(EndpointId(2)));
  EXPECT_THAT(incident.evidence.front().text, testing::HasSubstr("-> ::ffff:2.2.2.2"));
  EXPECT_THAT(incident.pairs, testing::Not(SizeIs(0)));
  EXPECT_TRUE(incident.closed.has_value());
}

// A cold probe is left out of latency only: here every probe is cold.
TEST(PipelineLoss, CountsAColdProbeForLoss) {
  PipelineBench bench(12);  // A sweep of 11 s: every visit finds its flows evicted.
  bench.options.probing.probes_per_visit = 1;
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(5)), 40));
  bench.run(80);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().candidates.at(0).component,
            bench.world.access_link(EndpointId(5)));
}

// Two faults at once are two incidents.
TEST(PipelineLoss, TellsTwoDeadRnicsApart) {
  PipelineBench bench(6);
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(0)), 30));
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(3)), 30));
  bench.run(90);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(2));
  std::vector<ComponentId> named;
  for (const Incident& incident : bench.incidents()) {
    named.push_back(incident.candidates.at(0).component);
  }
  EXPECT_THAT(named,
              UnorderedElementsAre(bench.world.access_link(EndpointId(0)),
                                   bench.world.access_link(EndpointId(3))));
}

// The published vote counts failing paths only, so a tie names every cable with the most.
TEST(PipelineLoss, VotesByPlainCountInThePaperConfiguration) {
  PipelineBench bench(6);
  bench.options.configuration = DetectionConfiguration::kPaper;
  FlowPredicate crossing = [](const FlowKey& flow) {
    const auto low = std::min(flow.source, flow.target);
    const auto high = std::max(flow.source, flow.target);
    return low < EndpointId(2) && high >= EndpointId(2) && high < EndpointId(4);
  };
  bench.world.effects.push_back(dead(crossing, 30));
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_FALSE(bench.incidents().empty());
  const Incident& incident = bench.incidents().front();
  EXPECT_THAT(bench.candidates(incident),
              IsSupersetOf({bench.fabric_link("tor-1.0"), bench.fabric_link("tor-2.0")}));
  // A count of failing paths, not a likelihood.
  const double votes = incident.candidates.front().score;
  EXPECT_EQ(votes, std::floor(votes));
  for (const Candidate& candidate : incident.candidates) {
    EXPECT_EQ(candidate.score, votes);
  }
}

}  // namespace
}  // namespace bonescan::fakes
