#include "detectors/localize/fault_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

constexpr double kNoise = 1e-3;
constexpr double kLeast = 1e-2;
constexpr double kMost = 0.9;

PathHop up(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kUp};
}

PathHop down(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kDown};
}

/// Noise is known, so that likelihoods can be written down.
FaultSearchOptions known_noise() {
  return {
      .loss = {
          .noise_least = kNoise, .noise_most = kNoise, .fault_least = kLeast, .fault_most = kMost}};
}

/// ln of the mean over ln q of exp(g ln(1 - q) + k ln((1 - s) / (1 - s0))), by fine steps.
double integrated(double good, double bad, int hops, int crossings) {
  const double healthy = std::pow(1.0 - kNoise, hops);
  const auto at = [&](double q) {
    const double s = healthy * std::pow(1.0 - q, crossings);
    return crossings * good * std::log1p(-q) + bad * std::log((1.0 - s) / (1.0 - healthy));
  };
  const int steps = 200'000;
  const double width = std::log(kMost / kLeast);
  double best = -1e300;
  for (int i = 0; i < steps; ++i) {
    best = std::max(best, at(kLeast * std::exp(width * (i + 0.5) / steps)));
  }
  double sum = 0.0;
  for (int i = 0; i < steps; ++i) {
    sum += std::exp(at(kLeast * std::exp(width * (i + 0.5) / steps)) - best);
  }
  return best + std::log(sum / steps);
}

TEST(FaultSearch, ScoreOfOneLinkIsItsIntegratedLikelihoodRatio) {
  struct Case {
    const char* name;
    std::uint32_t trials;
    std::uint32_t bad;
    double tolerance_nats;  ///< Laplace is an approximation
  };

  const Case cases[] = {
      {"a fifth", 100, 20, 0.05},
      {"many trials", 10'000, 1'000, 0.01},
      {"few trials", 20, 6, 0.15},
      {"all bad", 8, 8, 0.7},
      {"at the least rate", 2'000, 20, 0.4},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FaultSearch search(known_noise());
    const TracedPath path{{up(0)}, {}};
    const std::vector<PathEvidence> evidence{{&path, c.trials, c.bad, PairId(4)}};
    const std::vector<Accusation> found = search.localize(evidence, Symptom::kLoss);
    ASSERT_EQ(found.size(), 1U);
    ASSERT_EQ(found[0].suspects.size(), 1U);
    const LinkScore& score = found[0].suspects[0];
    EXPECT_NEAR(score.llr, integrated(c.trials - c.bad, c.bad, 1, 1), c.tolerance_nats);
    EXPECT_DOUBLE_EQ(score.rate, double{1.0} * c.bad / c.trials);
    EXPECT_EQ(score.paths, 1U);
    EXPECT_EQ(score.bad_paths, 1U);
    EXPECT_EQ(found[0].pairs, std::vector<PairId>{PairId(4)});
    const double against = std::exp(FaultSearchOptions{}.prior_nats - score.llr);
    EXPECT_NEAR(found[0].posterior, 1.0 / (1.0 + against), 1e-9);
    EXPECT_EQ(search.noise(), kNoise);
  }
}

TEST(FaultSearch, LinksInSeriesAreOneSetAndShareThePosterior) {
  FaultSearch search(known_noise());
  const TracedPath bad{{up(7), up(3), up(5)}, {}};
  const TracedPath good{{up(5)}, {}};
  const std::vector<PathEvidence> evidence{{&bad, 100, 30, PairId(0)}, {&good, 100, 0, PairId(1)}};
  const std::vector<Accusation> found = search.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].suspects.size(), 2U);
  EXPECT_EQ(found[0].suspects[0].link, ComponentId(3));
  EXPECT_EQ(found[0].suspects[1].link, ComponentId(7));
  EXPECT_EQ(found[0].suspects[0].llr, found[0].suspects[1].llr);
  EXPECT_GT(found[0].posterior, 0.999);
}

TEST(FaultSearch, TwoFaultsAreFoundWhereTheMostVotedLinkIsHealthy) {
  FaultSearch search;
  const TracedPath p{{up(0), up(1)}, {}};
  const TracedPath q{{up(1), up(2)}, {}};
  const TracedPath r{{up(1), up(3)}, {}};
  const std::vector<PathEvidence> evidence{
      {&p, 1'000, 30, PairId(0)}, {&q, 1'000, 80, PairId(1)}, {&r, 20'000, 0, PairId(2)}};
  const std::vector<Accusation> found = search.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].suspects[0].link, ComponentId(2));
  EXPECT_EQ(found[1].suspects[0].link, ComponentId(0));
  EXPECT_EQ(found[0].pairs, std::vector<PairId>{PairId(1)});
  EXPECT_EQ(found[1].pairs, std::vector<PairId>{PairId(0)});
}

TEST(FaultSearch, ExchangeTakesBackAFirstGuessThatLaterFaultsExplain) {
  // Link 0 carries both bad paths and looks best alone; its good trials say that 1 and 2 did it.
  FaultSearch search;
  const TracedPath p{{up(0), up(1)}, {}};
  const TracedPath q{{up(0), up(2)}, {}};
  const TracedPath r{{up(0), up(3)}, {}};
  const std::vector<PathEvidence> evidence{
      {&p, 300, 30, PairId(0)}, {&q, 300, 30, PairId(1)}, {&r, 1'200, 0, PairId(2)}};
  const std::vector<Accusation> found = search.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].suspects[0].link, ComponentId(1));
  EXPECT_EQ(found[1].suspects[0].link, ComponentId(2));
}

TEST(FaultSearch, ReportsTheDirectionThatExplainsMost) {
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
      {"both are as bad",
       {{&over_up, 100, 20, PairId(0)}, {&over_down, 100, 20, PairId(1)}},
       LinkDirection::kUp,
       true,
       2},
      {"both are bad, one more",
       {{&over_up, 10'000, 500, PairId(0)}, {&over_down, 10'000, 5'000, PairId(1)}},
       LinkDirection::kUp,
       true,
       2},
      {"no probe can tell", {{&over_both, 100, 20, PairId(0)}}, LinkDirection::kUp, true, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FaultSearch search;
    const std::vector<Accusation> found = search.localize(c.evidence, Symptom::kLoss);
    ASSERT_EQ(found.size(), 1U);
    ASSERT_EQ(found[0].suspects.size(), 1U);
    EXPECT_EQ(found[0].suspects[0].both_directions, c.both);
    EXPECT_EQ(found[0].suspects[0].paths, c.paths);
    EXPECT_EQ(found[0].suspects[0].direction, c.direction);
  }
}

TEST(FaultSearch, ThinEvidenceAccusesNobody) {
  const TracedPath p{{up(0), up(1)}, {}};
  const TracedPath q{{up(0), up(2)}, {}};

  struct Case {
    const char* name;
    std::vector<PathEvidence> evidence;
  };

  const Case cases[] = {
      {"nothing", {}},
      {"no trials", {{&p, 0, 0, PairId(0)}}},
      {"nothing bad", {{&p, 1'000, 0, PairId(0)}, {&q, 50, 0, PairId(1)}}},
      {"one stray loss", {{&p, 1'000, 1, PairId(0)}, {&q, 5'000, 0, PairId(1)}}},
      {"losses at the rate of noise", {{&p, 100'000, 20, PairId(0)}, {&q, 100'000, 20, PairId(1)}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FaultSearch search;
    EXPECT_TRUE(search.localize(c.evidence, Symptom::kLoss).empty());
  }
}

TEST(FaultSearch, UntriedAndUntracedPathsChangeNothing) {
  const TracedPath p{{up(0), up(1)}, {}};
  const TracedPath untried{{up(0)}, {}};
  const TracedPath untraced{};
  std::vector<PathEvidence> evidence{{&p, 100, 30, PairId(0)}};
  FaultSearch search;
  const std::vector<Accusation> before = search.localize(evidence, Symptom::kLoss);
  evidence.push_back({&untried, 0, 0, PairId(1)});
  evidence.push_back({&untraced, 50, 50, PairId(2)});
  const std::vector<Accusation> after = search.localize(evidence, Symptom::kLoss);
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].suspects.size(), before[0].suspects.size());
  EXPECT_EQ(after[0].suspects[0].llr, before[0].suspects[0].llr);
  EXPECT_EQ(after[0].suspects[0].paths, before[0].suspects[0].paths);
}

TEST(FaultSearch, NoiseIsWhatFaultsDoNotExplain) {
  // 100,000 trials over two links at 5e-5 each lose 10; a fault of 10 % loses 1,000 more.
  const TracedPath quiet{{up(1), up(2)}, {}};
  const TracedPath faulty{{up(0), up(3)}, {}};
  const std::vector<PathEvidence> evidence{{&quiet, 100'000, 10, PairId(0)},
                                           {&faulty, 10'000, 1'000, PairId(1)}};
  FaultSearch search;
  ASSERT_EQ(search.localize(evidence, Symptom::kLoss).size(), 1U);
  EXPECT_NEAR(search.noise(), 5e-5, 2e-6);
}

TEST(FaultSearch, LatencyNeedsTwoLatePathsAndMostOfTheLink) {
  struct Case {
    const char* name;
    std::uint32_t late;
    std::uint32_t pairs;
    bool accused;
  };

  const Case cases[] = {
      {"all late", 10, 10, true},
      {"most are late", 7, 10, true},
      {"one pair only", 1, 1, false},
      {"some pairs of one RNIC", 3, 20, false},
  };
  // Pairs of one cable with far ends of their own.
  std::vector<TracedPath> paths;
  for (std::uint32_t i = 0; i < 20; ++i) {
    paths.push_back({{up(0), down(1 + i)}, {up(1 + i), down(0)}});
  }
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<PathEvidence> evidence;
    for (std::uint32_t i = 0; i < c.pairs; ++i) {
      evidence.push_back({&paths[i], 1, i < c.late ? 1U : 0U, PairId(i)});
    }
    FaultSearch search;
    const std::vector<Accusation> found = search.localize(evidence, Symptom::kLatency);
    EXPECT_EQ(!found.empty(), c.accused);
    for (const Accusation& one : found) {
      EXPECT_EQ(one.suspects[0].link, ComponentId(0));
    }
  }
}

TEST(FaultSearch, StopsAtItsBound) {
  std::vector<TracedPath> paths;
  for (std::uint32_t i = 0; i < 10; ++i) {
    paths.push_back({{up(i)}, {down(i)}});
  }
  std::vector<PathEvidence> evidence;
  for (std::uint32_t i = 0; i < 10; ++i) {
    evidence.push_back({&paths[i], 100, 50, PairId(i)});
  }
  FaultSearch search({.faults_max = 3});
  EXPECT_EQ(search.localize(evidence, Symptom::kLoss).size(), 3U);
}

}  // namespace
}  // namespace bonescan
