// The vote on four leaves, eight spines and 64 hosts: 4,032 traced pairs.
#include "detectors/localize/underlay_vote.h"
#include "sim/base/rng_stream.h"
#include "tests/support/leaf_spine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

namespace bonescan {
namespace {

using test::BrokenLink;
using test::draw_evidence;
using test::LeafSpine;

constexpr std::uint32_t kLeaves = 4;
constexpr std::uint32_t kSpines = 8;
constexpr std::uint32_t kHosts = 16;
constexpr std::uint32_t kProbes = 10;

LeafSpine world() {
  return LeafSpine(kLeaves, kSpines, kHosts);
}

PathHop random_fabric_link(const LeafSpine& fabric, std::uint64_t seed, std::uint32_t which) {
  const PhiloxCounter draw = RngStream(seed, Purpose::kFault, which).block(0);
  return {fabric.fabric(draw[0] % kLeaves, draw[1] % kSpines),
          draw[2] % 2 == 0 ? LinkDirection::kUp : LinkDirection::kDown};
}

PathHop random_link(const LeafSpine& fabric, std::uint64_t seed) {
  const std::uint32_t links = fabric.host_count() + kLeaves * kSpines;
  const PhiloxCounter draw = RngStream(seed, Purpose::kFault, 2).block(0);
  return {ComponentId(draw[0] % links),
          draw[1] % 2 == 0 ? LinkDirection::kUp : LinkDirection::kDown};
}

struct GrayCase {
  const char* name;
  std::uint32_t trials;
  double gray_ratio;
  double true_base;
  bool fabric_only;
  double at_least;
};

struct TopOne {
  double likelihood = 0.0;
  double raw = 0.0;
};

/// Share of seeds on which the gray link comes out first.
TopOne top_one(const GrayCase& c, std::uint64_t seeds) {
  const LeafSpine fabric = world();
  UnderlayVote vote({});
  TopOne hits;
  std::vector<TracedPath> paths;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    if (seed % 20 == 1) {  // ten draws of the ECMP paths, twenty faults on each
      paths = fabric.all_paths(seed);
    }
    const PathHop gray =
        c.fabric_only ? random_fabric_link(fabric, seed, 0) : random_link(fabric, seed);
    const std::vector<PathEvidence> evidence =
        draw_evidence(paths, c.trials, c.true_base, {{gray, c.gray_ratio}}, seed);
    const std::span<const LinkVotes> votes = vote.raw_vote(evidence);
    hits.raw += !votes.empty() && votes[0].link == gray.link ? 1.0 : 0.0;
    const std::span<const LinkScore> scores = vote.score(evidence, Symptom::kLoss);
    hits.likelihood += !scores.empty() && scores[0].link == gray.link ? 1.0 : 0.0;
  }
  hits.raw /= static_cast<double>(seeds);
  hits.likelihood /= static_cast<double>(seeds);
  return hits;
}

TEST(VoteLeafSpine, LikelihoodNamesTheGrayLinkMoreOftenThanTheCount) {
  // Bounds with room (two standard errors) below the printed rates.
  const GrayCase cases[] = {
      {"0.3 % on a fabric link, base 1e-5", 10, 3e-3, 1e-5, true, 0.91},
      {"0.5 % on any link, base 100 times what is assumed", 10, 5e-3, 1e-3, false, 0.78},
      {"0.4 % on any link, base 30 times what is assumed", 10, 4e-3, 3e-4, false, 0.84},
  };
  for (const GrayCase& c : cases) {
    SCOPED_TRACE(c.name);
    const TopOne rates = top_one(c, 200);
    std::printf("top-1, %s: likelihood %.3f, raw vote %.3f\n", c.name, rates.likelihood, rates.raw);
    EXPECT_GE(rates.likelihood, c.at_least);
    EXPECT_GT(rates.likelihood, rates.raw);
  }
}

TEST(VoteLeafSpine, AnAccessLinkIsNamedWithBothDirections) {
  const LeafSpine fabric = world();
  const std::vector<TracedPath> paths = fabric.all_paths(3);
  for (const LinkDirection direction : {LinkDirection::kUp, LinkDirection::kDown}) {
    const ComponentId truth = fabric.access(21);
    const std::vector<PathEvidence> evidence =
        draw_evidence(paths, kProbes, 1e-5, {{{truth, direction}, 0.05}}, 3);
    UnderlayVote vote({});
    const std::vector<Accusation> accusations = vote.explain_all(evidence, Symptom::kLoss);
    ASSERT_EQ(accusations.size(), 1U);
    ASSERT_EQ(accusations[0].suspects.size(), 1U);
    EXPECT_EQ(accusations[0].suspects[0].link, truth);
    EXPECT_TRUE(accusations[0].suspects[0].both_directions);
    EXPECT_EQ(accusations[0].suspects[0].paths, 2U * (fabric.host_count() - 1));
  }
}

TEST(VoteLeafSpine, ADeadFabricCableIsNamedWithBothDirections) {
  const LeafSpine fabric = world();
  const std::vector<TracedPath> paths = fabric.all_paths(4);
  const ComponentId truth = fabric.fabric(2, 5);
  const std::vector<PathEvidence> evidence =
      draw_evidence(paths,
                    kProbes,
                    1e-5,
                    {{{truth, LinkDirection::kUp}, 1.0}, {{truth, LinkDirection::kDown}, 1.0}},
                    4);
  UnderlayVote vote({});
  const std::vector<Accusation> accusations = vote.explain_all(evidence, Symptom::kUnreachable);
  ASSERT_EQ(accusations.size(), 1U);
  ASSERT_EQ(accusations[0].suspects.size(), 1U);
  EXPECT_EQ(accusations[0].suspects[0].link, truth);
  EXPECT_TRUE(accusations[0].suspects[0].both_directions);
  EXPECT_DOUBLE_EQ(accusations[0].suspects[0].rate, 1.0);
}

TEST(VoteLeafSpine, LatencyOnSomePairsOfOneRnicLeavesTheUnderlayClear) {
  const LeafSpine fabric = world();
  const std::vector<TracedPath> paths = fabric.all_paths(5);
  std::vector<PathEvidence> evidence = draw_evidence(paths, 1, 0.0, {}, 5);
  // A stale flow table at host 9: nine of its 63 outgoing pairs take the software path.
  const std::uint32_t first = 9 * (fabric.host_count() - 1);
  for (std::uint32_t i = 0; i < 9; ++i) {
    evidence[first + 7 * i].bad = 1;
  }
  UnderlayVote vote({});
  EXPECT_TRUE(vote.score(evidence, Symptom::kLatency).empty());
  EXPECT_TRUE(vote.explain_all(evidence, Symptom::kLatency).empty());
}

TEST(VoteLeafSpine, ADelayedDirectionIsNamedByLatency) {
  const LeafSpine fabric = world();
  const std::vector<TracedPath> paths = fabric.all_paths(6);
  const PathHop slow{fabric.fabric(1, 3), LinkDirection::kDown};
  const std::vector<PathEvidence> evidence = draw_evidence(paths, 1, 0.0, {{slow, 1.0}}, 6);
  UnderlayVote vote({});
  const std::vector<Accusation> accusations = vote.explain_all(evidence, Symptom::kLatency);
  ASSERT_EQ(accusations.size(), 1U);
  EXPECT_EQ(accusations[0].suspects[0].link, slow.link);
  EXPECT_EQ(accusations[0].suspects[0].direction, slow.direction);
  EXPECT_FALSE(accusations[0].suspects[0].both_directions);
}

TEST(VoteLeafSpine, TwoConcurrentFaultsAreBothFound) {
  const LeafSpine fabric = world();
  UnderlayVote vote({});
  int both_found = 0;
  int false_accusations = 0;
  constexpr int kSeeds = 40;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<TracedPath> paths = fabric.all_paths(seed);
    const PathHop gray = random_fabric_link(fabric, seed, 0);
    const std::uint32_t host =
        RngStream(seed, Purpose::kFault, 1).block(0)[0] % fabric.host_count();
    const PathHop access{fabric.access(host), LinkDirection::kUp};
    const std::vector<PathEvidence> evidence =
        draw_evidence(paths, kProbes, 1e-5, {{gray, 0.02}, {access, 0.05}}, seed);
    const std::vector<Accusation> accusations = vote.explain_all(evidence, Symptom::kLoss);
    bool found_gray = false;
    bool found_access = false;
    for (const Accusation& accusation : accusations) {
      const ComponentId named = accusation.suspects[0].link;
      found_gray = found_gray || named == gray.link;
      found_access = found_access || named == access.link;
      false_accusations += named != gray.link && named != access.link ? 1 : 0;
    }
    both_found += found_gray && found_access ? 1 : 0;
  }
  std::printf("two faults: both found on %d of %d seeds, %d false accusations\n",
              both_found,
              kSeeds,
              false_accusations);
  EXPECT_GE(both_found, 38);
  EXPECT_LE(false_accusations, 1);
}

TEST(VoteLeafSpine, OrderOfTheEvidenceDoesNotMatter) {
  const LeafSpine fabric = world();
  const std::vector<TracedPath> paths = fabric.all_paths(7);
  const PathHop gray = random_fabric_link(fabric, 7, 0);
  std::vector<PathEvidence> evidence = draw_evidence(paths, kProbes, 1e-4, {{gray, 0.01}}, 7);
  UnderlayVote vote({});
  const std::span<const LinkScore> sorted = vote.score(evidence, Symptom::kLoss);
  const std::vector<LinkScore> before(sorted.begin(), sorted.end());
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const RngStream draws(seed, Purpose::kTest, 0);
    for (std::size_t i = evidence.size(); i > 1; --i) {
      std::swap(evidence[i - 1], evidence[draws.at(i) % i]);
    }
    const std::span<const LinkScore> after = vote.score(evidence, Symptom::kLoss);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      ASSERT_EQ(after[i].link, before[i].link);
      ASSERT_EQ(after[i].llr, before[i].llr);  // bit for bit
      ASSERT_EQ(after[i].both_directions, before[i].both_directions);
    }
  }
}

TEST(VoteLeafSpine, WorseLossGivesMoreEvidence) {
  const LeafSpine fabric = world();
  const std::vector<TracedPath> paths = fabric.all_paths(8);
  const PathHop gray{fabric.fabric(0, 0), LinkDirection::kUp};
  UnderlayVote vote({});
  double last = 0.0;
  for (const double ratio : {0.002, 0.005, 0.01, 0.05, 0.2, 0.5, 1.0}) {
    // The same draws: a probe lost at a lower ratio is lost at every higher one.
    const std::vector<PathEvidence> evidence =
        draw_evidence(paths, kProbes, 1e-5, {{gray, ratio}}, 8);
    const std::span<const LinkScore> scores = vote.score(evidence, Symptom::kLoss);
    const auto found = std::find_if(scores.begin(), scores.end(), [&gray](const LinkScore& score) {
      return score.link == gray.link;
    });
    ASSERT_NE(found, scores.end());
    EXPECT_GT(found->llr, last) << ratio;
    last = found->llr;
  }
}

}  // namespace
}  // namespace bonescan
