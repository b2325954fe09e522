// What becomes of an incident of loss after it has opened: gray loss that gets worse, a second
// failure elsewhere, a place that later evidence contradicts.
#include "tests/support/pipeline_bench.h"

namespace bonescan::fakes {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

FakeEffect lossy(FlowPredicate hits,
                 std::int64_t from_s,
                 std::int64_t to_s,
                 std::uint32_t lose_one_in) {
  return {
      .from = at_s(from_s), .to = at_s(to_s), .hits = std::move(hits), .lose_one_in = lose_one_in};
}

TEST(PipelineLossRefinement, MakesTheIncidentOfAGrayLinkWorseWhereItGoesSilent) {
  PipelineBench bench(8, 1);
  bench.world.effects.push_back(lossy(to_endpoint(EndpointId(3)), 60, 120, 4));
  bench.world.effects.push_back(lossy(to_endpoint(EndpointId(3)), 120, 180, 1));
  Symptom before = Symptom::kUnreachable;
  bench.at(115, [&] { before = bench.incidents().front().symptom; });
  bench.run(170);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  EXPECT_EQ(before, Symptom::kLoss);
  ASSERT_THAT(bench.incidents(), SizeIs(1));
  const Incident& incident = bench.incidents().front();
  EXPECT_EQ(incident.symptom, Symptom::kUnreachable);
  EXPECT_EQ(incident.kind, "link-down");
  EXPECT_EQ(incident.severity, Severity::kP0);
  EXPECT_THAT(bench.candidates(incident), ElementsAre(bench.world.access_link(EndpointId(3))));
}

// The tables of one pair over the gray link are broken: that is another failure.
TEST(PipelineLossRefinement, LeavesAGrayLinkGrayWhereOneOfItsPairsGoesSilent) {
  PipelineBench bench(8, 1);
  bench.world.effects.push_back(lossy(to_endpoint(EndpointId(3)), 60, 260, 4));
  bench.world.effects.push_back(lossy(between(EndpointId(0), EndpointId(3)), 140, 260, 1));
  bench.run(250);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_FALSE(bench.incidents().empty());
  EXPECT_EQ(bench.incidents().front().symptom, Symptom::kLoss);
}

// Three episodes of one RNIC are one incident with several indices; then another RNIC fails.
TEST(PipelineLossRefinement, WeighsASecondFaultAfterOneThatOpenedAgain) {
  PipelineBench bench(16, 2);
  for (const std::int64_t at : {20, 160, 300}) {
    bench.world.effects.push_back(lossy(to_endpoint(EndpointId(3)), at, at + 20, 1));
  }
  bench.world.effects.push_back(lossy(to_endpoint(EndpointId(20)), 440, 500, 1));
  bench.run(490);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_THAT(bench.incidents(), SizeIs(2));
  EXPECT_EQ(bench.incidents()[0].episodes, 3u);
  EXPECT_THAT(bench.candidates(bench.incidents()[1]),
              ElementsAre(bench.world.access_link(EndpointId(20))));
}

// Two access links of one ToR and the ToR's own link fail together: each has an incident.
TEST(PipelineLossRefinement, NamesEveryLinkOfSeveralThatFailAtOnce) {
  PipelineBench bench(12, 1);
  for (const std::uint32_t rnic : {0u, 5u}) {
    bench.world.effects.push_back(lossy(to_endpoint(EndpointId(rnic)), 60, 200, 1));
  }
  const auto leaves_last_tor = [](const FlowKey& flow) {
    return (flow.source.index() / 2 == 5) != (flow.target.index() / 2 == 5);
  };
  bench.world.effects.push_back(lossy(leaves_last_tor, 60, 200, 1));
  bench.run(120);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  std::vector<ComponentId> named;
  for (const Incident& incident : bench.incidents()) {
    named.push_back(incident.candidates.front().component);
  }
  EXPECT_THAT(named,
              testing::UnorderedElementsAre(bench.world.access_link(EndpointId(0)),
                                            bench.world.access_link(EndpointId(5)),
                                            bench.fabric_link("tor-6.0")));
}

// A ToR's link thins out what crosses it, and by chance first what goes to one of its RNICs, then
// what goes to the other.  The second incident is never seen again, since the first, once it has
// moved to the ToR's link, explains all that is lost.
TEST(PipelineLossRefinement, JoinsIncidentsThatWereOneFaultFromTheStart) {
  PipelineBench bench(12, 1);
  const auto over_the_link = [](const FlowKey& flow) {
    return (flow.source.index() / 2 == 5) != (flow.target.index() / 2 == 5);
  };
  const auto over_the_link_at = [&](std::uint32_t rnic) {
    return [=](const FlowKey& flow) {
      return over_the_link(flow) && (flow.source.index() == rnic || flow.target.index() == rnic);
    };
  };
  bench.world.effects.push_back(lossy(over_the_link_at(10), 60, 63, 2));
  bench.world.effects.push_back(lossy(over_the_link_at(11), 63, 65, 2));
  bench.world.effects.push_back(lossy(over_the_link, 65, 120, 3));
  std::size_t opened_apart = 0;
  bench.at(66, [&] { opened_apart = bench.incidents().size(); });
  bench.run(120);
  SCOPED_TRACE(summary(bench.incidents(), bench.world.components));
  ASSERT_EQ(opened_apart, 2u) << "the world does not show what it is for";
  std::size_t open = 0;
  for (const Incident& incident : bench.incidents()) {
    EXPECT_EQ(incident.candidates.front().component, bench.fabric_link("tor-6.0"));
    open += incident.closed ? 0 : 1;
  }
  EXPECT_EQ(open, 1u);
}

// The ends of what may be configured are no ends of what a search can be told.
TEST(PipelineLossRefinement, TakesEveryRatioThatMayBeConfigured) {
  for (const double loss : {1e-9, 1e-5, 0.01, 0.05}) {
    for (const double late : {1e-6, 0.6, 1.0}) {
      SCOPED_TRACE(testing::Message() << loss << " and " << late);
      PipelineBench bench(4, 1);
      bench.options.loss.base_loss_ratio = loss;
      bench.options.localize.latency_hit_ratio = late;
      bench.run(20);
      EXPECT_THAT(bench.incidents(), SizeIs(0));
    }
  }
}

}  // namespace
}  // namespace bonescan::fakes
