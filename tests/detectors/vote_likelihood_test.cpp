#include "detectors/localize/underlay_vote.h"
#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

constexpr double kBase = 1e-3;

PathHop up(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kUp};
}

PathHop down(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kDown};
}

UnderlayVote vote_with(const VoteOptions& options = {.base_loss_ratio = kBase,
                                                     .base_late_ratio = kBase}) {
  return UnderlayVote(options);
}

/// Three one-way links; P crosses 0 and 1, Q crosses 0 and 2, R crosses 1 and 2.
class ThreeLinks : public ::testing::Test {
 protected:
  std::vector<PathEvidence> evidence() const {
    return {{&p_, 100, 5, PairId(0)}, {&q_, 100, 3, PairId(1)}, {&r_, 100, 0, PairId(2)}};
  }

  TracedPath p_{{up(0), up(1)}, {}};
  TracedPath q_{{up(0), up(2)}, {}};
  TracedPath r_{{up(1), up(2)}, {}};
};

double by_hand(double trials, double bad, double healthy = kBase) {
  const double q = bad / trials;
  return bad * std::log(q / healthy) + (trials - bad) * std::log((1 - q) / (1 - healthy));
}

TEST_F(ThreeLinks, ScoresAreTheBinomialLikelihoodRatios) {
  UnderlayVote vote = vote_with({.base_loss_ratio = kBase, .base_slack = 1.0});
  const std::vector<PathEvidence> items = evidence();
  const std::span<const LinkScore> scores = vote.score(items, Symptom::kLoss);
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(scores[0].link, ComponentId(0));
  EXPECT_EQ(scores[1].link, ComponentId(1));
  EXPECT_EQ(scores[2].link, ComponentId(2));
  EXPECT_NEAR(scores[0].llr, by_hand(200, 8), 1e-9);
  EXPECT_NEAR(scores[0].llr, 21.865308749, 1e-8);  // 8 ln 40 + 192 ln(0.96 / 0.999)
  EXPECT_NEAR(scores[1].llr, by_hand(200, 5), 1e-9);
  EXPECT_NEAR(scores[2].llr, by_hand(200, 3), 1e-9);
  EXPECT_EQ(scores[0].paths, 2U);
  EXPECT_EQ(scores[0].bad_paths, 2U);
  EXPECT_EQ(scores[1].bad_paths, 1U);
  EXPECT_DOUBLE_EQ(scores[0].rate, 0.04);
  EXPECT_EQ(scores[0].direction, LinkDirection::kUp);
  EXPECT_FALSE(scores[0].both_directions);
}

TEST_F(ThreeLinks, TheHealthyRatioIsThatOfTheEvidenceThatAvoidsTheLink) {
  UnderlayVote vote = vote_with({.base_loss_ratio = kBase, .base_slack = 40.0});
  const std::vector<PathEvidence> items = evidence();
  const std::span<const LinkScore> scores = vote.score(items, Symptom::kLoss);
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_NEAR(scores[0].llr, by_hand(200, 8, kBase), 1e-9);  // R is clean: the base stands
  EXPECT_EQ(scores[1].llr, 0.0);                             // 5 of 200 is less than Q's 3 of 100
  EXPECT_EQ(scores[2].llr, 0.0);  // 3 of 200 is less than P's 5 of 100, also when held at 0.04
}

TEST_F(ThreeLinks, RawVoteCountsFailingPaths) {
  UnderlayVote vote = vote_with();
  const std::vector<PathEvidence> items = evidence();
  const std::span<const LinkVotes> votes = vote.raw_vote(items);
  ASSERT_EQ(votes.size(), 3U);
  EXPECT_EQ(votes[0].link, ComponentId(0));
  EXPECT_EQ(votes[0].votes, 2U);
  EXPECT_EQ(votes[1].link, ComponentId(1));  // equal votes: ascending id
  EXPECT_EQ(votes[1].votes, 1U);
  EXPECT_EQ(votes[2].link, ComponentId(2));
}

TEST_F(ThreeLinks, AReusedObjectForgetsTheLastCall) {
  UnderlayVote vote = vote_with();
  const std::vector<PathEvidence> items = evidence();
  vote.score(items, Symptom::kLoss);
  // Nothing of the failing paths may linger, neither in the tallies nor in the healthy ratio.
  const std::vector<PathEvidence> only_r{{&r_, 100, 2, PairId(2)}};
  const std::span<const LinkScore> scores = vote.score(only_r, Symptom::kLoss);
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_NEAR(scores[0].llr, by_hand(100, 2), 1e-9);
  EXPECT_EQ(scores[0].paths, 1U);
}

TEST(BadRatioLlr, HasTheRightLimits) {
  struct Case {
    const char* name;
    std::uint64_t trials;
    std::uint64_t bad;
    double llr;
  };

  const Case cases[] = {
      {"no trials", 0, 0, 0.0},
      {"nothing bad", 50, 0, 0.0},
      {"at the base rate", 1000, 1, 0.0},
      {"below the base rate", 10'000, 1, 0.0},
      {"all bad", 4, 4, 4 * std::log(1 / kBase)},
      {"half bad", 2, 1, std::log(0.5 / kBase) + std::log(0.5 / (1 - kBase))},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_NEAR(bad_ratio_llr(c.trials, c.bad, kBase), c.llr, 1e-12);
  }
}

TEST(BadRatioLlr, GrowsWithEveryBadTrial) {
  double last = 0.0;
  for (std::uint64_t bad = 1; bad <= 200; ++bad) {
    const double llr = bad_ratio_llr(200, bad, kBase);
    EXPECT_GT(llr, last) << bad;
    last = llr;
  }
}

TEST(UnderlayVote, RawVoteIsClearUnlessALinkLiesOnTwoFailingPaths) {
  const TracedPath a{{up(0), down(1)}, {up(1), down(0)}};
  const TracedPath b{{up(2), down(3)}, {up(3), down(2)}};
  const TracedPath c{{up(0), down(3)}, {up(3), down(0)}};
  UnderlayVote vote = vote_with();
  const std::vector<PathEvidence> disjoint{{&a, 10, 10, PairId(0)}, {&b, 10, 10, PairId(1)}};
  EXPECT_TRUE(vote.raw_vote(disjoint).empty());
  // One failing path crosses its access links twice; that is still one vote.
  const std::vector<PathEvidence> single{{&a, 10, 10, PairId(0)}, {&c, 10, 0, PairId(2)}};
  EXPECT_TRUE(vote.raw_vote(single).empty());
  const std::vector<PathEvidence> shared{{&a, 10, 10, PairId(0)}, {&c, 10, 1, PairId(2)}};
  const std::span<const LinkVotes> votes = vote.raw_vote(shared);
  ASSERT_FALSE(votes.empty());
  EXPECT_EQ(votes[0].link, ComponentId(0));
  EXPECT_EQ(votes[0].votes, 2U);
}

TEST(UnderlayVote, NothingFailsNothingIsSuspected) {
  const TracedPath a{{up(0), down(1)}, {}};
  const std::vector<PathEvidence> healthy{{&a, 1000, 0, PairId(0)}};
  UnderlayVote vote = vote_with();
  EXPECT_TRUE(vote.score(healthy, Symptom::kLoss).empty());
  EXPECT_TRUE(vote.raw_vote(healthy).empty());
  EXPECT_TRUE(vote.explain_all(healthy, Symptom::kLoss).empty());
  EXPECT_TRUE(vote.score({}, Symptom::kLoss).empty());
}

TEST(UnderlayVote, ReportsTheDirectionThatExplainsMost) {
  const TracedPath over_up{{up(0)}, {}};
  const TracedPath over_down{{down(0)}, {}};
  const TracedPath over_both{{up(0)}, {down(0)}};

  struct Case {
    const char* name;
    std::vector<PathEvidence> evidence;
    LinkDirection direction;
    bool both;
    std::uint32_t paths;
  };

  const Case cases[] = {
      {"only up is bad",
       {{&over_up, 100, 20, PairId(0)}, {&over_down, 100, 0, PairId(1)}},
       LinkDirection::kUp,
       false,
       1},
      {"only down is bad",
       {{&over_up, 100, 0, PairId(0)}, {&over_down, 100, 20, PairId(1)}},
       LinkDirection::kDown,
       false,
       1},
      {"both are bad",
       {{&over_up, 100, 20, PairId(0)}, {&over_down, 100, 20, PairId(1)}},
       LinkDirection::kUp,
       true,
       2},
      {"no probe can tell", {{&over_both, 100, 20, PairId(0)}}, LinkDirection::kUp, true, 1},
      {"never crossed downwards", {{&over_up, 100, 20, PairId(0)}}, LinkDirection::kUp, false, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    UnderlayVote vote = vote_with();
    const std::span<const LinkScore> scores = vote.score(c.evidence, Symptom::kLoss);
    ASSERT_EQ(scores.size(), 1U);
    EXPECT_EQ(scores[0].both_directions, c.both);
    EXPECT_EQ(scores[0].paths, c.paths);
    if (!c.both) {
      EXPECT_EQ(scores[0].direction, c.direction);
    }
  }
}

TEST(UnderlayVote, TiesAreTheLinksThatNoProbeTellsApart) {
  // Links 7 and 3 are in series; link 5 lies on one healthy path more.
  const TracedPath bad{{up(7), up(3), up(5)}, {}};
  const TracedPath good{{up(5)}, {}};
  const std::vector<PathEvidence> evidence{{&bad, 100, 30, PairId(0)}, {&good, 100, 0, PairId(1)}};
  UnderlayVote vote = vote_with();
  const std::span<const LinkScore> scores = vote.score(evidence, Symptom::kLoss);
  const std::span<const LinkScore> tied = ties(scores, 1.0);
  ASSERT_EQ(tied.size(), 2U);
  EXPECT_EQ(tied[0].link, ComponentId(3));
  EXPECT_EQ(tied[1].link, ComponentId(7));
  EXPECT_EQ(tied[0].llr, tied[1].llr);
  EXPECT_EQ(ties(scores, 1e9).size(), 3U);
  EXPECT_TRUE(ties({}, 1.0).empty());
}

struct LatencyCase {
  const char* name;
  int late;
  int pairs;
  bool suspected;
};

TEST(UnderlayVote, LatencyNeedsTwoLatePathsAndMostOfTheLink) {
  const LatencyCase cases[] = {
      {"all late", 10, 10, true},
      {"at the ratio", 6, 10, true},
      {"under the ratio", 5, 10, false},
      {"one pair only", 1, 1, false},
      {"two of two", 2, 2, true},
      {"some pairs of one RNIC", 3, 20, false},
  };
  const TracedPath path{{up(0)}, {down(0)}};
  for (const LatencyCase& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<PathEvidence> evidence;
    for (int i = 0; i < c.pairs; ++i) {
      evidence.push_back({&path, 1, i < c.late ? 1U : 0U, PairId(static_cast<std::uint32_t>(i))});
    }
    UnderlayVote vote = vote_with();
    EXPECT_EQ(!vote.score(evidence, Symptom::kLatency).empty(), c.suspected);
    EXPECT_FALSE(vote.score(evidence, Symptom::kLoss).empty()) << "loss has no such guard";
  }
}

TEST(UnderlayVote, LatencyGuardLooksAtEachDirectionApart) {
  // Everything that goes up is late, nothing that comes down: half of the cable's pairs.
  const TracedPath over_up{{up(0)}, {}};
  const TracedPath over_down{{down(0)}, {}};
  std::vector<PathEvidence> evidence;
  for (std::uint32_t i = 0; i < 8; ++i) {
    evidence.push_back({&over_up, 1, 1, PairId(2 * i)});
    evidence.push_back({&over_down, 1, 0, PairId(2 * i + 1)});
  }
  UnderlayVote vote = vote_with();
  const std::span<const LinkScore> scores = vote.score(evidence, Symptom::kLatency);
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_EQ(scores[0].direction, LinkDirection::kUp);
  EXPECT_FALSE(scores[0].both_directions);
}

TEST(UnderlayVote, ExplainAllStopsAtItsBound) {
  std::vector<TracedPath> paths;
  for (std::uint32_t i = 0; i < 10; ++i) {
    paths.push_back({{up(i)}, {down(i)}});
  }
  std::vector<PathEvidence> evidence;
  for (std::uint32_t i = 0; i < 10; ++i) {
    evidence.push_back({&paths[i], 100, 50, PairId(i)});
  }
  UnderlayVote vote = vote_with({.base_loss_ratio = kBase, .faults_max = 3});
  const std::vector<Accusation> accusations = vote.explain_all(evidence, Symptom::kLoss);
  ASSERT_EQ(accusations.size(), 3U);
  // All ten are equally bad: the first names one, and its set holds all that are as good.
  EXPECT_EQ(accusations[0].suspects.size(), 10U);
  EXPECT_EQ(accusations[0].suspects[0].link, ComponentId(0));
  EXPECT_EQ(accusations[0].pairs, std::vector<PairId>{PairId(0)});
}

}  // namespace
}  // namespace bonescan
