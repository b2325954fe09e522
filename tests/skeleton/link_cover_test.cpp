#include "skeleton/link_cover.h"

#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

ComponentId link(std::uint32_t number) {
  return ComponentId(number);
}

/// Two tiers: a ToR for every leaf, `spines` above them.  Link (leaf, spine) is 100 + ...; the
/// access link of a leaf's host is the leaf's number.
struct TwoTiers {
  std::uint32_t spines = 1;

  ComponentId between(std::uint32_t leaf, std::uint32_t spine) const {
    return link(100 + leaf * spines + spine);
  }

  std::vector<PathHop> way(std::uint32_t from, std::uint32_t to, std::uint32_t spine) const {
    return {{link(from), LinkDirection::kUp},
            {between(from, spine), LinkDirection::kUp},
            {between(to, spine), LinkDirection::kDown},
            {link(to), LinkDirection::kDown}};
  }

  TracedPath path(std::uint32_t from, std::uint32_t to, std::uint32_t spine) const {
    return {way(from, to, spine), way(to, from, spine)};
  }
};

std::vector<CoveringPair> pairs_of(const std::vector<TracedPath>& paths, std::uint32_t first = 0) {
  std::vector<CoveringPair> pairs;
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    pairs.push_back({PairId(first + i), &paths[i]});
  }
  return pairs;
}

TEST(LinkCover, IsEmptyForNothingAndForPathsBelowOneSwitch) {
  EXPECT_EQ(repair_link_cover({}, {}).shared_links, 0U);
  const std::vector<TracedPath> below_one = {
      {{{link(0), LinkDirection::kUp}, {link(1), LinkDirection::kDown}},
       {{link(1), LinkDirection::kUp}, {link(0), LinkDirection::kDown}}},
      {}};
  const LinkCover cover = repair_link_cover(pairs_of(below_one), pairs_of(below_one, 9));
  EXPECT_EQ(cover.shared_links, 0U);
  EXPECT_TRUE(cover.extra.empty());
}

/// Of leaves 0, 1 and 2, only 0 and 1 are probed.  0 - 2 and 1 - 2 make two ways over every link.
TEST(LinkCover, TakesThePairsThatCloseATriangle) {
  const TwoTiers fabric;
  const std::vector<TracedPath> chosen = {fabric.path(0, 1, 0)};
  const std::vector<TracedPath> candidates = {
      fabric.path(1, 0, 0), fabric.path(0, 2, 0), fabric.path(1, 2, 0), fabric.path(2, 1, 0)};
  const LinkCover cover = repair_link_cover(pairs_of(chosen), pairs_of(candidates, 10));
  EXPECT_EQ(cover.extra, (std::vector<PairId>{PairId(11), PairId(12)}));
  EXPECT_EQ(cover.shared_links, 6U);
  EXPECT_EQ(cover.repaired, 6U);
  EXPECT_EQ(cover.not_repairable, 0U);
}

/// Between two leaves every way over a spine takes the same two links: no pair tells them apart.
TEST(LinkCover, SaysWhatNoCandidateCanRepair) {
  const TwoTiers fabric{.spines = 2};
  const std::vector<TracedPath> chosen = {fabric.path(0, 1, 0)};
  const std::vector<TracedPath> candidates = {fabric.path(0, 1, 1), fabric.path(1, 0, 0)};
  const LinkCover cover = repair_link_cover(pairs_of(chosen), pairs_of(candidates, 10));
  EXPECT_TRUE(cover.extra.empty()) << "no candidate is taken that repairs nothing";
  EXPECT_EQ(cover.shared_links, 8U);
  EXPECT_EQ(cover.repaired, 0U);
  EXPECT_EQ(cover.not_repairable, 8U);
}

/// A ring over four leaves and one spine crosses each link with both neighbours: nothing to repair.
TEST(LinkCover, LeavesARingAlone) {
  const TwoTiers fabric;
  std::vector<TracedPath> chosen;
  std::vector<TracedPath> candidates;
  for (std::uint32_t leaf = 0; leaf < 4; ++leaf) {
    chosen.push_back(fabric.path(leaf, (leaf + 1) % 4, 0));
    candidates.push_back(fabric.path(leaf, (leaf + 2) % 4, 0));
  }
  const LinkCover cover = repair_link_cover(pairs_of(chosen), pairs_of(candidates, 10));
  EXPECT_TRUE(cover.extra.empty());
  EXPECT_EQ(cover.repaired, 0U);
  EXPECT_EQ(cover.not_repairable, 0U);
}

/// A pair of leaves that is alone on its spine needs, of many candidates, one to another leaf from
/// each: the closed form of two tiers.
TEST(LinkCover, NeedsOnePairFromEachLeafOfALonelyPair) {
  const TwoTiers fabric;
  std::vector<TracedPath> chosen = {
      fabric.path(0, 1, 0), fabric.path(2, 3, 0), fabric.path(3, 4, 0), fabric.path(4, 2, 0)};
  std::vector<TracedPath> candidates;
  for (const auto& [from, to] : {std::pair(0U, 2U), {0U, 3U}, {1U, 2U}, {1U, 4U}, {2U, 4U}}) {
    candidates.push_back(fabric.path(from, to, 0));
  }
  const LinkCover cover = repair_link_cover(pairs_of(chosen), pairs_of(candidates, 10));
  EXPECT_EQ(cover.extra.size(), 2U);
  EXPECT_EQ(cover.repaired, 4U);
  EXPECT_EQ(cover.not_repairable, 0U);
}

using Directed = std::pair<ComponentId, LinkDirection>;
using WayLinks = std::set<Directed>;
using WaysOfLinks = std::map<Directed, std::set<WayLinks>>;

void add_naively(const TracedPath& path, WaysOfLinks& ways) {
  for (const std::vector<PathHop>* hops : {&path.request, &path.answer}) {
    WayLinks links;
    for (std::size_t i = 1; i + 1 < hops->size(); ++i) {
      links.insert({(*hops)[i].link, (*hops)[i].direction});
    }
    for (const Directed& one : links) {
      ways[one].insert(links);
    }
  }
}

std::size_t told_apart(const WaysOfLinks& ways) {
  return static_cast<std::size_t>(std::count_if(
      ways.begin(), ways.end(), [](const auto& link) { return link.second.size() > 1; }));
}

/// The fewest candidates that tell apart whatever all of them can, by trying every subset.
std::size_t fewest(const std::vector<TracedPath>& chosen,
                   const std::vector<TracedPath>& candidates) {
  std::size_t best = candidates.size() + 1;
  WaysOfLinks all;
  for (const auto* paths : {&chosen, &candidates}) {
    for (const TracedPath& path : *paths) {
      add_naively(path, all);
    }
  }
  for (std::uint32_t subset = 0; subset < (1U << candidates.size()); ++subset) {
    const auto size = static_cast<std::size_t>(__builtin_popcount(subset));
    WaysOfLinks ways;
    for (const TracedPath& path : chosen) {
      add_naively(path, ways);
    }
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if ((subset >> i & 1U) != 0) {
        add_naively(candidates[i], ways);
      }
    }
    if (size < best && told_apart(ways) == told_apart(all)) {
      best = size;
    }
  }
  return best;
}

TEST(LinkCover, RepairsAllThatCanBeRepairedWithFewMoreThanTheFewest) {
  std::size_t greedy = 0;
  std::size_t optimal = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const RngStream rng(seed, Purpose::kTest, 0);
    std::uint64_t draws = 0;
    const auto below = [&](std::uint64_t count) {
      return static_cast<std::uint32_t>(rng.at(draws++) % count);
    };
    const TwoTiers fabric{.spines = 1 + below(2)};
    const std::uint32_t leaves = 3 + below(3);
    const auto random_paths = [&](std::size_t count) {
      std::vector<TracedPath> paths;
      while (paths.size() < count) {
        const std::uint32_t from = below(leaves);
        const std::uint32_t to = (from + 1 + below(leaves - 1)) % leaves;
        paths.push_back({fabric.way(from, to, below(fabric.spines)),
                         fabric.way(to, from, below(fabric.spines))});
      }
      return paths;
    };
    const std::vector<TracedPath> chosen = random_paths(below(4));
    const std::vector<TracedPath> candidates = random_paths(1 + below(9));
    const LinkCover cover = repair_link_cover(pairs_of(chosen), pairs_of(candidates, 100));
    WaysOfLinks before;
    WaysOfLinks after;
    WaysOfLinks all;
    for (const TracedPath& path : chosen) {
      add_naively(path, before);
    }
    after = before;
    all = before;
    for (const PairId extra : cover.extra) {
      add_naively(candidates[extra.index() - 100], after);
    }
    for (const TracedPath& path : candidates) {
      add_naively(path, all);
    }
    EXPECT_EQ(told_apart(after), told_apart(all));
    EXPECT_EQ(cover.shared_links, all.size());
    EXPECT_EQ(cover.repaired, told_apart(after) - told_apart(before));
    EXPECT_EQ(cover.not_repairable, all.size() - told_apart(all));
    greedy += cover.extra.size();
    optimal += fewest(chosen, candidates);
  }
  EXPECT_GE(greedy, optimal);
  EXPECT_LE(greedy, optimal + optimal / 5) << "greedy is within a fifth here";
}

TEST(LinkCover, DoesNotHeedTheOrderOfCandidates) {
  const TwoTiers fabric;
  const std::vector<TracedPath> chosen = {fabric.path(0, 1, 0)};
  std::vector<TracedPath> paths;
  for (std::uint32_t leaf = 2; leaf < 9; ++leaf) {
    paths.push_back(fabric.path(leaf % 2, leaf, 0));
    paths.push_back(fabric.path(leaf, 2 + (leaf - 1) % 7, 0));
  }
  std::vector<CoveringPair> candidates = pairs_of(paths, 10);
  const LinkCover forward = repair_link_cover(pairs_of(chosen), candidates);
  std::reverse(candidates.begin(), candidates.end());
  EXPECT_EQ(repair_link_cover(pairs_of(chosen), candidates).extra, forward.extra);
}

}  // namespace
}  // namespace bonescan
