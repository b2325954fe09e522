// What the pipeline says when the on-demand sources have no answer: unknown is not healthy.
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

FakeEffect dead(FlowPredicate hits, std::int64_t from_s) {
  return {.from = at_s(from_s), .hits = std::move(hits), .lose_one_in = 1};
}

void silence(FakeTelemetry& world, ErrorCode code) {
  world.trace_script = [code](const FlowKey&, Time) -> Expected<TracedPath> {
    return fail(code, "no traceroute here");
  };
  world.walk_script = [code](const FlowKey&, Time) -> Expected<OverlayWalk> {
    return fail(code, "no ofproto here");
  };
  world.dump_script = [code](
                          EndpointId, std::span<const FlowKey>, Time) -> Expected<FlowTableDump> {
    return fail(code, "no tables here");
  };
}

// Bug: stages without an answer were shown as clear, and a pair nobody could look into was put on
// a link by "elimination".
TEST(PipelineUnanswered, ShowsNoStageAsClearThatCouldNotLook) {
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kPending}) {
    PipelineBench bench(4);
    silence(bench.world, code);
    bench.world.effects.push_back(dead(between(EndpointId(0), EndpointId(1)), 20));
    bench.run(60);
    SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
    ASSERT_THAT(bench.incidents(), SizeIs(1));
    const Incident& incident = bench.incidents().front();
    EXPECT_EQ(incident.layer, Layer::kUndetermined);
    EXPECT_THAT(incident.candidates, SizeIs(0));
    EXPECT_EQ(incident.confidence, 0.0);
    for (const Evidence& line : incident.evidence) {
      // Follow-up probes were answered, and hosts did let themselves be looked into.
      const bool looked = line.stage == "follow-up" || line.stage == "host-check";
      EXPECT_FALSE(line.clear && !looked) << line.stage;
    }
    EXPECT_THAT(PipelineBench::line(incident, "overlay-walk")->text, HasSubstr("no ofproto here"));
    EXPECT_THAT(PipelineBench::line(incident, "flow-table-diff")->text,
                HasSubstr("no tables here"));
    EXPECT_THAT(PipelineBench::line(incident, "underlay-vote")->text, HasSubstr("traced"));
  }
}

TEST(PipelineUnanswered, StillVotesWhenOnlyTheOverlayIsSilent) {
  PipelineBench bench(4);
  bench.world.walk_script = [](const FlowKey&, Time) -> Expected<OverlayWalk> {
    return fail(ErrorCode::kUnavailable, "no ofproto here");
  };
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(2)), 20));
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.world.access_link(EndpointId(2))));
  const Evidence* walk = PipelineBench::line(incident, "overlay-walk");
  ASSERT_NE(walk, nullptr);
  EXPECT_FALSE(walk->clear);
}

// Bug: a walk that was pending when the pair first failed was never asked for again, so its rule
// was never named.
TEST(PipelineUnanswered, AsksAgainForAPendingWalk) {
  PipelineBench bench(4);
  bench.world.answers_pend = true;
  bench.world.walk_script = [&](const FlowKey& flow, Time) -> Expected<OverlayWalk> {
    return flow.source == EndpointId(0) && flow.target == EndpointId(1)
               ? bench.world.broken_walk(flow)
               : bench.world.healthy_walk(flow);
  };
  bench.world.effects.push_back(dead(between(EndpointId(0), EndpointId(1)), 20));
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().layer, Layer::kOverlay);
  EXPECT_EQ(bench.incidents().front().kind, "missing-rule");
}

// Bug: several pairs that failed together had a link accused before the overlay had answered.
TEST(PipelineUnanswered, AccusesNoLinkWhileTheOverlayIsStillAnswering) {
  PipelineBench bench(4);
  bench.world.answers_pend = true;
  bench.world.walk_script = [&](const FlowKey& flow, Time) -> Expected<OverlayWalk> {
    return flow.target == EndpointId(1) ? bench.world.broken_walk(flow)
                                        : bench.world.healthy_walk(flow);
  };
  bench.world.effects.push_back(dead(to_endpoint(EndpointId(1)), 20));
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(3));  // Each of the other hosts lacks a rule.
  for (const Incident& incident : bench.incidents()) {
    EXPECT_EQ(incident.layer, Layer::kOverlay);
    EXPECT_EQ(incident.kind, "missing-rule");
  }
}

// Bug: a dump that was pending counted as an answer without a mismatch.
TEST(PipelineUnanswered, AsksAgainForAPendingDump) {
  PipelineBench bench(4);
  bench.world.answers_pend = true;
  bench.world.dump_script = [&](EndpointId at, std::span<const FlowKey> flows, Time) {
    return at == EndpointId(0) ? bench.world.missing_entries(at, flows)
                               : bench.world.healthy_dump(at, flows);
  };
  bench.world.effects.push_back(dead(between(EndpointId(0), EndpointId(1)), 20));
  bench.run(60);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  EXPECT_EQ(bench.incidents().front().layer, Layer::kRnic);
  EXPECT_THAT(bench.candidates(bench.incidents().front()),
              ElementsAre(bench.world.rnic(EndpointId(0))));
}

// A source that never answers must not keep the pairs behind it from being walked.
TEST(PipelineUnanswered, WalksEveryPairOnceBeforeAnyTwice) {
  PipelineBench bench(12);
  bench.options.localize.walks_per_round = 2;  // One pair, both ways.
  bench.options.localize.dumps_per_round = 0;
  silence(bench.world, ErrorCode::kPending);
  bench.world.effects.push_back(dead(every_flow(), 20));
  bench.run(28);
  ASSERT_GE(bench.world.walked.size(), 12u);
  std::set<FlowKey> seen;
  for (std::size_t i = 0; i < bench.world.walked.size(); i += 2) {
    EXPECT_TRUE(seen.insert(bench.world.walked[i]).second) << i;
  }
}

}  // namespace
}  // namespace bonescan::fakes
