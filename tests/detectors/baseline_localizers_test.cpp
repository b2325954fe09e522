#include "detectors/baselines/detector_pll.h"
#include "detectors/baselines/flock_search.h"
#include "detectors/baselines/flow_vote_007.h"
#include "detectors/baselines/net_bouncer.h"
#include "detectors/baselines/path_votes.h"
#include "tests/support/flow_traces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace bonescan {
namespace {

PathHop up(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kUp};
}

PathHop down(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kDown};
}

std::vector<std::uint32_t> named(const std::vector<Accusation>& accusations) {
  std::vector<std::uint32_t> links;
  for (const Accusation& one : accusations) {
    links.push_back(one.suspects.front().link.index());
  }
  return links;
}

TEST(FlowVote007, LongPathsBlameEachLinkLessAndExplainedFlowsVoteNoMore) {
  // Votes: link 0 has 1/2 + 1/4, links 1 1/2, 2..4 1/4; link 5 1.
  const TracedPath two{{up(0), up(1)}, {}};
  const TracedPath four{{up(0), up(2), up(3), up(4)}, {}};
  const TracedPath one{{up(5)}, {}};
  const std::vector<PathEvidence> evidence{
      {&two, 10, 3, PairId(0)}, {&four, 10, 1, PairId(1)}, {&one, 10, 1, PairId(2)}};
  // Three votes in all: a third is link 5's; without them link 0 has 3/8, of all only a quarter.
  FlowVote007 vote({.vote_share_least = 0.32});
  const std::vector<Accusation> found = vote.localize(evidence, Symptom::kLoss);
  EXPECT_EQ(named(found), (std::vector<std::uint32_t>{5, 0}));
  EXPECT_DOUBLE_EQ(found[0].suspects[0].llr, 1.0);
  EXPECT_DOUBLE_EQ(found[1].suspects[0].llr, 0.75);
  EXPECT_EQ(found[1].pairs, (std::vector<PairId>{PairId(0), PairId(1)}));
  FlowVote007 strict({.vote_share_least = 0.34});
  EXPECT_TRUE(strict.localize(evidence, Symptom::kLoss).empty());
}

TEST(FlockSearch, GainIsTheRatioOfFixedRatesAndCoveredFlowsCountOnce) {
  const TracedPath p{{up(0), up(1)}, {}};
  const TracedPath q{{up(0), up(2)}, {}};
  const TracedPath r{{up(2)}, {}};
  const std::vector<PathEvidence> evidence{
      {&p, 100, 10, PairId(0)}, {&q, 100, 10, PairId(1)}, {&r, 1'000, 0, PairId(2)}};
  FlockSearch search({.faulty_loss = 0.1, .healthy_loss = 0.001, .prior_nats = 5.0});
  const std::vector<Accusation> found = search.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(named(found), std::vector<std::uint32_t>{0});
  EXPECT_NEAR(
      found[0].suspects[0].llr, 20 * std::log(0.1 / 0.001) + 180 * std::log(0.9 / 0.999), 1e-9);
}

TEST(FlockSearch, StopsWhereOneMoreLinkCostsMoreThanItExplains) {
  const TracedPath p{{up(0)}, {}};
  const std::vector<PathEvidence> evidence{{&p, 10, 1, PairId(0)}};
  const double gain = std::log(0.1 / 0.001) + 9 * std::log(0.9 / 0.999);
  FlockSearch cheap({.faulty_loss = 0.1, .healthy_loss = 0.001, .prior_nats = gain - 0.01});
  FlockSearch dear({.faulty_loss = 0.1, .healthy_loss = 0.001, .prior_nats = gain + 0.01});
  EXPECT_EQ(cheap.localize(evidence, Symptom::kLoss).size(), 1U);
  EXPECT_TRUE(dear.localize(evidence, Symptom::kLoss).empty());
}

TEST(FlockSearch, TakesALinkBackThatOthersExplainBetter) {
  // Link 0 is on all lossy flows and gains most at first; links 1 and 2 explain two of them each,
  // and the clean flows over link 0 alone weigh against it once they are named.
  const TracedPath p{{up(0), up(1)}, {}};
  const TracedPath q{{up(0), up(2)}, {}};
  const TracedPath r{{up(0)}, {}};
  const TracedPath s{{up(1)}, {}};
  const TracedPath t{{up(2)}, {}};
  const std::vector<PathEvidence> evidence{{&p, 100, 10, PairId(0)},
                                           {&q, 100, 10, PairId(1)},
                                           {&r, 200, 0, PairId(2)},
                                           {&s, 100, 4, PairId(3)},
                                           {&t, 100, 4, PairId(4)}};
  FlockSearch search({.faulty_loss = 0.1, .healthy_loss = 0.001, .prior_nats = 5.0});
  EXPECT_EQ(named(search.localize(evidence, Symptom::kLoss)), (std::vector<std::uint32_t>{1, 2}));
}

TEST(NetBouncer, OneLinkMovesToTheMinimumOfTheParabola) {
  // x minimises (x - 0.7)^2 + 0.25 x (1 - x).
  const TracedPath a{{up(0)}, {}};
  const std::vector<PathEvidence> evidence{{&a, 10, 3, PairId(0)}};
  NetBouncer fit({.lambda = 0.25, .link_loss_least = 0.01, .device_paths_least = 100});
  const std::vector<Accusation> found = fit.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(fit.success()[0], (1.4 - 0.25) / (2 * 0.75), 1e-12);
}

TEST(NetBouncer, TheBetterEndIsTakenWhereTheRegularizerWins) {
  // One path, s2 = 1 < lambda: x = 1 costs (1 - y)^2, x = 0 costs y^2.
  const TracedPath path{{up(0)}, {}};
  NetBouncer fit({.lambda = 3.0, .link_loss_least = 0.5});
  EXPECT_TRUE(
      fit.localize(std::vector<PathEvidence>{{&path, 10, 4, PairId(0)}}, Symptom::kLoss).empty());
  EXPECT_EQ(fit.success()[0], 1.0);
  EXPECT_EQ(
      fit.localize(std::vector<PathEvidence>{{&path, 10, 6, PairId(0)}}, Symptom::kLoss).size(),
      1U);
  EXPECT_EQ(fit.success()[0], 0.0);
}

TEST(NetBouncer, ADeviceWithoutAnyCleanPathIsBlamedWithAllItsLinks) {
  // Links 0 to 3 meet in one switch; 4 and 5 in another.
  std::vector<TracedPath> paths{{{up(0), down(1)}, {}},
                                {{up(1), down(2)}, {}},
                                {{up(2), down(3)}, {}},
                                {{up(4), down(5)}, {}}};
  std::vector<PathEvidence> evidence;
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    evidence.push_back({&paths[i], 100, i < 3 ? 20U : 0U, PairId(i)});
  }
  NetBouncer fit({.lambda = 0.1, .link_loss_least = 0.01, .device_paths_least = 3});
  const std::vector<Accusation> found = fit.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].suspects.size(), 6U) << "three up, three down";
  EXPECT_EQ(found[0].pairs.size(), 3U);
}

TEST(DeTectorPll, SolvesLinksThatSpoilEverythingFirst) {
  // Link 0 spoils all of its paths; link 1 two of three, of which one is explained by link 0.
  const TracedPath p{{up(0), up(1)}, {}};
  const TracedPath q{{up(0), up(2)}, {}};
  const TracedPath r{{up(1), up(3)}, {}};
  const TracedPath s{{up(1), up(4)}, {}};
  const TracedPath t{{up(2)}, {}};
  const TracedPath u{{up(3)}, {}};
  const std::vector<PathEvidence> evidence{{&p, 10, 9, PairId(0)},
                                           {&q, 10, 9, PairId(1)},
                                           {&r, 10, 2, PairId(2)},
                                           {&s, 10, 0, PairId(3)},
                                           {&t, 10, 0, PairId(4)},
                                           {&u, 10, 0, PairId(5)}};
  DeTectorPll pll({.hit_ratio = 0.5});
  EXPECT_EQ(named(pll.localize(evidence, Symptom::kLoss)), (std::vector<std::uint32_t>{0, 1}));
  DeTectorPll strict({.hit_ratio = 0.6});
  EXPECT_EQ(named(strict.localize(evidence, Symptom::kLoss)), std::vector<std::uint32_t>{0});
}

TEST(RPingmeshVote, NamesBadRnicsBelowTheirTorAndLetsTheRestVote) {
  // Cables 0, 1 and 2 are RNICs below one ToR; RNIC 0 loses. Paths over 8 and 9 lose a little.
  const TracedPath ab{{up(0), down(1)}, {}};
  const TracedPath bc{{up(1), down(2)}, {}};
  const TracedPath ac{{up(0), down(2)}, {}};
  const TracedPath far_a{{up(0), up(8), down(9), down(4)}, {}};
  const TracedPath far_b{{up(1), up(8), down(9), down(5)}, {}};
  const TracedPath far_c{{up(2), up(8), down(7), down(6)}, {}};
  const std::vector<PathEvidence> evidence{{&ab, 100, 30, PairId(0)},
                                           {&bc, 100, 0, PairId(1)},
                                           {&ac, 100, 30, PairId(2)},
                                           {&far_a, 100, 40, PairId(3)},
                                           {&far_b, 100, 3, PairId(4)},
                                           {&far_c, 100, 1, PairId(5)}};
  RPingmeshVote vote;
  const std::vector<Accusation> found = vote.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(named(found), (std::vector<std::uint32_t>{0, 8}));
  EXPECT_EQ(found[1].suspects.front().llr, 4.0);
}

TEST(RawVote, NamesTheCablesOnMostFailingPaths) {
  const TracedPath p{{up(0), up(1)}, {}};
  const TracedPath q{{up(0), up(1), up(2)}, {}};
  RawVote vote;
  const std::vector<PathEvidence> evidence{{&p, 10, 1, PairId(3)}, {&q, 10, 1, PairId(2)}};
  const std::vector<Accusation> found = vote.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].suspects.size(), 2U);
  EXPECT_EQ(found[0].suspects[0].llr, 2.0);
  EXPECT_EQ(found[0].pairs, (std::vector<PairId>{PairId(2), PairId(3)}));
}

std::vector<std::unique_ptr<Localizer>> all_baselines() {
  std::vector<std::unique_ptr<Localizer>> all;
  all.push_back(std::make_unique<RawVote>());
  all.push_back(std::make_unique<RPingmeshVote>());
  all.push_back(std::make_unique<FlowVote007>(FlowVoteOptions{.vote_share_least = 0.01}));
  all.push_back(std::make_unique<NetBouncer>());
  all.push_back(std::make_unique<FlockSearch>());
  all.push_back(std::make_unique<DeTectorPll>(PllOptions{.hit_ratio = 0.1}));
  return all;
}

TEST(Baselines, HearNothingAndSayNothing) {
  const TracedPath path{{up(0)}, {}};
  for (const auto& one : all_baselines()) {
    SCOPED_TRACE(one->name());
    EXPECT_TRUE(one->localize({}, Symptom::kLoss).empty());
    const std::vector<PathEvidence> healthy{{&path, 50, 0, PairId(0)}};
    EXPECT_TRUE(one->localize(healthy, Symptom::kLoss).empty());
    const std::vector<PathEvidence> untried{{&path, 0, 0, PairId(0)}};
    EXPECT_TRUE(one->localize(untried, Symptom::kLoss).empty());
  }
}

TEST(Baselines, OrderOfTheEvidenceChangesNothing) {
  const test::FlowTrace trace = test::draw_flow_trace(3'000, 4, 1);
  std::vector<PathEvidence> evidence = trace.evidence();
  std::size_t accused = 0;
  for (const auto& one : all_baselines()) {
    SCOPED_TRACE(one->name());
    const std::vector<Accusation> forwards = one->localize(evidence, Symptom::kLoss);
    std::reverse(evidence.begin(), evidence.end());
    const std::vector<Accusation> backwards = one->localize(evidence, Symptom::kLoss);
    accused += forwards.size();
    ASSERT_EQ(named(forwards), named(backwards));
    for (std::size_t i = 0; i < forwards.size(); ++i) {
      EXPECT_EQ(forwards[i].suspects.front().llr, backwards[i].suspects.front().llr);
      EXPECT_EQ(forwards[i].pairs, backwards[i].pairs);
    }
  }
  EXPECT_GE(accused, 5U);
}

}  // namespace
}  // namespace bonescan
