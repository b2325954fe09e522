// Slow windows to incidents, on the fake telemetry.
//
// Six hosts of one rail: 30 pairs, a sweep of 5 s, so a pair has six visits in a window.  The first
// ten windows are healthy: they are the history.
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kFault = 300;

FakeEffect slow(FlowPredicate hits, Duration extra, std::int64_t from_s, Time to = kForever) {
  return {.from = at_s(from_s), .to = to, .hits = std::move(hits), .extra = extra};
}

/// Pairs of hosts 0 and 1 with the others cross "link(tor-1.0, agg-1)".
bool crosses_first_tor(const FlowKey& flow) {
  return (flow.source < EndpointId(2)) != (flow.target < EndpointId(2));
}

/// Both ways of the pairs 0-2 and 0-4.
bool two_pairs_of_the_first(const FlowKey& flow) {
  const auto low = std::min(flow.source, flow.target);
  const auto high = std::max(flow.source, flow.target);
  return low == EndpointId(0) && (high == EndpointId(2) || high == EndpointId(4));
}

TEST(PipelineLatency, NamesTheLinkThatAllItsPairsFindSlow) {
  PipelineBench bench(6);
  bench.world.effects.push_back(slow(crosses_first_tor, std::chrono::microseconds(20), kFault));
  bench.run(kFault + 40);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kUnderlay);
  EXPECT_EQ(incident.symptom, Symptom::kLatency);
  EXPECT_EQ(incident.kind, "link-latency");
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.fabric_link("tor-1.0")));
  EXPECT_THAT(incident.pairs, SizeIs(16));
  // One window is enough; it is judged when the last answers are in.
  EXPECT_EQ(incident.opened, at_s(kFault + 30) + bench.options.probing.timeout);
  EXPECT_TRUE(PipelineBench::line(incident, "overlay-walk")->clear);
  EXPECT_FALSE(PipelineBench::line(incident, "underlay-vote")->clear);
}

// The shape of Figure 18: some pairs of one RNIC, its tables disagree, everything else is clear.
TEST(PipelineLatency, NamesTheRnicWhoseTablesDisagree) {
  PipelineBench bench(6);
  bench.world.effects.push_back(
      slow(two_pairs_of_the_first, std::chrono::microseconds(104), kFault));
  bench.world.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time now) {
    return at == EndpointId(0) && now >= at_s(kFault) ? bench.world.missing_entries(at, flows)
                                                      : bench.world.healthy_dump(at, flows);
  };
  bench.run(kFault + 70);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.layer, Layer::kRnic);
  EXPECT_EQ(incident.kind, "table-mismatch");
  EXPECT_EQ(incident.confidence, 1.0);
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.world.rnic(EndpointId(0))));
  EXPECT_THAT(incident.pairs, SizeIs(4));
  EXPECT_EQ(incident.opened, at_s(kFault + 30) + bench.options.probing.timeout);
  EXPECT_TRUE(PipelineBench::line(incident, "overlay-walk")->clear);
  EXPECT_TRUE(PipelineBench::line(incident, "underlay-vote")->clear);
  EXPECT_FALSE(PipelineBench::line(incident, "flow-table-diff")->clear);
}

// A bug: where all pairs of an RNIC are late its link explains them as well as its tables do, and
// was blamed before anybody had looked at these.
TEST(PipelineLatency, AsksTheTablesOfAnRnicBeforeItsLinkIsBlamed) {
  for (const bool broken : {true, false}) {
    SCOPED_TRACE(broken ? "tables disagree" : "tables agree");
    PipelineBench bench(6);
    bench.world.effects.push_back(
        slow(to_endpoint(EndpointId(0)), std::chrono::microseconds(104), kFault));
    bench.world.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time) {
      return broken && at == EndpointId(0) ? bench.world.missing_entries(at, flows)
                                           : bench.world.healthy_dump(at, flows);
    };
    bench.run(kFault + 40);
    SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
    ASSERT_THAT(bench.incidents(), SizeIs(1));
    const Incident& incident = bench.incidents().front();
    EXPECT_EQ(incident.layer, broken ? Layer::kRnic : Layer::kUnderlay);
    EXPECT_THAT(bench.candidates(incident),
                ElementsAre(broken ? bench.world.rnic(EndpointId(0))
                                   : bench.world.access_link(EndpointId(0))));
    EXPECT_THAT(incident.pairs, SizeIs(10));
    EXPECT_EQ(incident.opened, at_s(kFault + 30) + bench.options.probing.timeout);
  }
}

TEST(PipelineLatency, NamesTheSamePlaceWhenTheFirstDumpIsPending) {
  PipelineBench bench(6);
  bench.world.answers_pend = true;
  bench.world.effects.push_back(
      slow(between(EndpointId(0), EndpointId(2)), std::chrono::microseconds(104), kFault));
  bench.world.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time) {
    return at == EndpointId(0) ? bench.world.missing_entries(at, flows)
                               : bench.world.healthy_dump(at, flows);
  };
  bench.run(kFault + 50);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_THAT(bench.candidates(bench.incidents().front()),
              ElementsAre(bench.world.rnic(EndpointId(0))));
  EXPECT_LE(bench.incidents().front().opened, at_s(kFault + 34));
}

// One slow window with clean tables is congestion until proved otherwise.
TEST(PipelineLatency, OpensNothingForOneSlowWindow) {
  PipelineBench bench(6);
  bench.world.effects.push_back(
      slow(two_pairs_of_the_first, std::chrono::microseconds(104), kFault, at_s(kFault + 30)));
  bench.run(kFault + 100);
  EXPECT_THAT(bench.incidents(), SizeIs(0)) << summary(bench.incidents(), bench.world.components);
  EXPECT_THAT(bench.verdicts, SizeIs(4));
  EXPECT_THAT(bench.world.dumped, testing::Not(SizeIs(0)));
}

TEST(PipelineLatency, ReportsAPairThatStaysSlow) {
  struct Case {
    const char* name;
    std::int64_t extra_us;
    std::size_t incidents;
  };
  // Healthy is 16.0 to 16.8 us: 6 us more are a factor of 1.37, 12 us are 1.73.
  for (const Case& c : {Case{"below 1.5", 6, 0}, Case{"above 1.5", 12, 1}}) {
    SCOPED_TRACE(c.name);
    PipelineBench bench(6);
    bench.world.effects.push_back(
        slow(between(EndpointId(0), EndpointId(2)), std::chrono::microseconds(c.extra_us), kFault));
    bench.run(kFault + 70);
    SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
    EXPECT_THAT(bench.verdicts, testing::Not(SizeIs(0)));
    ASSERT_THAT(bench.incidents(), SizeIs(c.incidents));
    if (c.incidents == 0) {
      continue;
    }
    const Incident& incident = bench.incidents().front();
    EXPECT_EQ(incident.layer, Layer::kUndetermined);
    EXPECT_EQ(incident.kind, "slow-pair");
    EXPECT_THAT(incident.pairs, ElementsAre(bench.pair(0, 2)));
    EXPECT_EQ(incident.opened, at_s(kFault + 60) + bench.options.probing.timeout);
    EXPECT_TRUE(PipelineBench::line(incident, "flow-table-diff")->clear);
  }
}

TEST(PipelineLatency, ShowsTablesAsUnknownWhenTheyDoNotAnswer) {
  PipelineBench bench(6);
  bench.world.dump_script =
      [](EndpointId, std::span<const FlowKey>, Time) -> Expected<FlowTableDump> {
    return fail(ErrorCode::kUnavailable, "no tables here");
  };
  bench.world.effects.push_back(
      slow(between(EndpointId(0), EndpointId(2)), std::chrono::microseconds(20), kFault));
  bench.run(kFault + 80);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Evidence* tables = PipelineBench::line(bench.incidents().front(), "flow-table-diff");
  ASSERT_NE(tables, nullptr);
  EXPECT_FALSE(tables->clear);
  EXPECT_THAT(tables->text, HasSubstr("no tables here"));
}

// With twelve hosts a sweep is 11 s, longer than a megaflow lives.  All probes of one pair but the
// first of each visit are slow: seen only where the first is left out, since the window's minimum
// must rise.
TEST(PipelineLatency, LeavesOutTheFirstProbeOfAColdVisit) {
  for (const bool cold : {true, false}) {
    SCOPED_TRACE(cold ? "cold" : "warm");
    PipelineBench bench(12);
    bench.options.window.cold_after = std::chrono::seconds(cold ? 10 : 60);
    // The first effect only counts the pair's probes, from the start of the run.
    auto sent = std::make_shared<int>(0);
    const FlowPredicate counting = [sent](const FlowKey& flow) {
      *sent += flow.source == EndpointId(0) && flow.target == EndpointId(2) ? 1 : 0;
      return false;
    };
    const FlowPredicate later_probes = [sent](const FlowKey& flow) {
      return flow.source == EndpointId(0) && flow.target == EndpointId(2) && *sent % 10 != 1;
    };
    bench.world.effects.push_back({.hits = counting});
    bench.world.effects.push_back(slow(later_probes, std::chrono::microseconds(30), kFault));
    bench.run(kFault + 40);
    EXPECT_EQ(bench.verdicts.empty(), !cold);
    for (const Verdict& verdict : bench.verdicts) {
      EXPECT_EQ(verdict.pair, bench.pair(0, 2));
      EXPECT_EQ(verdict.rule, VerdictRule::kWindowLof);
    }
  }
}

// One probe a visit and a sweep longer than a megaflow's life: every probe measures its own upcall,
// so nothing can be said about latency, and that is what the windows must say.
TEST(PipelineLatency, SaysNothingWhenEveryVisitIsOneColdProbe) {
  PipelineBench bench(12);
  bench.options.probing.probes_per_visit = 1;
  bench.run(600);
  ASSERT_THAT(bench.windows, testing::Not(SizeIs(0)));
  EXPECT_GT(bench.windows.back().probes, 100u);
  EXPECT_EQ(bench.windows.back().pairs_evaluated, 0u);
}

TEST(PipelineLatency, VotesByPlainCountAfterOneWindowInThePaperConfiguration) {
  PipelineBench bench(6);
  bench.options.configuration = DetectionConfiguration::kPaper;
  bench.world.effects.push_back(slow(crosses_first_tor, std::chrono::microseconds(104), kFault));
  bench.run(kFault + 31);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  const auto late = std::find_if(
      bench.incidents().begin(), bench.incidents().end(), [](const Incident& incident) {
        return incident.opened > at_s(kFault);
      });
  ASSERT_NE(late, bench.incidents().end());
  EXPECT_EQ(late->opened, at_s(kFault + 30) + bench.options.probing.timeout);
  EXPECT_EQ(late->candidates.at(0).component, bench.fabric_link("tor-1.0"));
  EXPECT_EQ(late->candidates.at(0).score, std::floor(late->candidates.at(0).score));
}

// A run that ends inside a window still judges what it has.
TEST(PipelineLatency, JudgesTheLastWindowAtTheEnd) {
  PipelineBench bench(6);
  bench.world.effects.push_back(
      slow(two_pairs_of_the_first, std::chrono::microseconds(104), kFault));
  bench.world.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time) {
    return at == EndpointId(0) ? bench.world.missing_entries(at, flows)
                               : bench.world.healthy_dump(at, flows);
  };
  bench.run(kFault + 20);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().layer, Layer::kRnic);
  EXPECT_EQ(bench.windows.back().to, at_s(kFault + 30));
}

}  // namespace
}  // namespace bonescan::fakes
