#include "planner/matrix/pmc.h"

#include "planner/matrix/coverage_check.h"
#include "planner/matrix/covers.h"
#include "planner/matrix/detector_paths.h"
#include "planner/matrix/star_graphs.h"
#include "tests/planner/matrix/matrix_worlds.h"
#include "tests/support/fabrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

using test::path_set;

PathSet chosen_of(const PathSet& candidates, const std::vector<std::uint32_t>& chosen) {
  PathSet set{.link_count = candidates.link_count};
  for (const std::uint32_t path : chosen) {
    set.add(candidates[path]);
  }
  return set;
}

PathSet edges(std::uint32_t leaves,
              const std::vector<std::pair<std::uint32_t, std::uint32_t>>& list) {
  PathSet set{.link_count = leaves};
  for (const auto& [a, b] : list) {
    const std::uint32_t links[] = {a, b};
    set.add(links);
  }
  return set;
}

PathSet complete_graph(std::uint32_t leaves) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
  for (std::uint32_t a = 0; a < leaves; ++a) {
    for (std::uint32_t b = a + 1; b < leaves; ++b) {
      list.emplace_back(a, b);
    }
  }
  return edges(leaves, list);
}

/// The fewest paths that reach the goal, by trying all choices; none: no choice does.
std::size_t fewest_of_all(const PathSet& candidates, const PmcGoal& goal) {
  std::size_t best = candidates.size() + 1;
  for (std::uint32_t mask = 0; mask < 1U << candidates.size(); ++mask) {
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t p = 0; p < candidates.size(); ++p) {
      if (mask >> p & 1U) {
        chosen.push_back(p);
      }
    }
    const PathSet set = chosen_of(candidates, chosen);
    if (chosen.size() < best && check_coverage(set).least_cover >= goal.alpha &&
        (goal.beta == 0 || !find_indistinct(set, goal.beta))) {
      best = chosen.size();
    }
  }
  return best;
}

TEST(Pmc, BoundsByHand) {
  EXPECT_EQ(fewest_paths(16'384, 4, {1, 0}), 4'096U);
  EXPECT_EQ(fewest_paths(16'384, 4, {1, 1}), 6'554U);
  EXPECT_EQ(fewest_paths(16'384, 4, {3, 2}), 12'288U);
  EXPECT_EQ(fewest_paths(2'916, 4, {1, 3}), 2'187U);
  EXPECT_EQ(fewest_paths(8'192, 2, {1, 1}), 5'462U);
}

TEST(Pmc, TakesNoMoreThanItNeeds) {
  const auto result = construct_probe_matrix(path_set(2, {{0, 1}, {0}, {1}}), {1, 1});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->chosen.size(), 2U);
  EXPECT_TRUE(result->covered && result->identifiable);
  EXPECT_EQ(result->components, 1U);
}

TEST(Pmc, SaysWhatCannotBe) {
  const auto alike = construct_probe_matrix(path_set(4, {{0, 1}, {2}, {2, 3}}), {1, 1});
  ASSERT_TRUE(alike);
  EXPECT_TRUE(alike->covered);
  EXPECT_FALSE(alike->identifiable);
  EXPECT_EQ(alike->components, 2U);
  const auto thin = construct_probe_matrix(path_set(1, {{0}}), {2, 0});
  ASSERT_TRUE(thin);
  EXPECT_FALSE(thin->covered);
  EXPECT_FALSE(construct_probe_matrix({}, {1, 4}));
  EXPECT_FALSE(construct_probe_matrix(complete_graph(400), {1, 3}));
}

TEST(Pmc, IsCloseToAllChoicesOnStars) {
  for (const PmcGoal& goal : {PmcGoal{1, 0}, PmcGoal{1, 1}, PmcGoal{2, 1}, PmcGoal{1, 2}}) {
    for (std::uint32_t leaves = 3; leaves <= 6; ++leaves) {
      SCOPED_TRACE(leaves * 100 + goal.alpha * 10 + goal.beta);
      const PathSet all = complete_graph(leaves);
      const std::size_t best = fewest_of_all(all, goal);
      const auto greedy = construct_probe_matrix(all, goal);
      ASSERT_TRUE(greedy);
      const bool possible = best <= all.size();
      EXPECT_EQ(greedy->covered && greedy->identifiable, possible);
      const PathSet star = edges(leaves, star_graph(leaves, goal));
      if (possible) {
        EXPECT_LE(greedy->chosen.size(), best + 3);
        EXPECT_EQ(star.size(), best);
        EXPECT_GE(best, fewest_paths(leaves, 2, goal));
        EXPECT_TRUE(goal.beta == 0 || !find_indistinct(star, goal.beta));
      }
    }
  }
}

TEST(StarGraph, ReachesItsGoalAtEverySize) {
  for (std::uint32_t alpha = 1; alpha <= 4; ++alpha) {
    for (std::uint32_t beta = 0; beta <= 3; ++beta) {
      for (std::uint32_t leaves = beta + 2; leaves <= 24; ++leaves) {
        SCOPED_TRACE(leaves * 100 + alpha * 10 + beta);
        const PathSet star = edges(leaves, star_graph(leaves, {alpha, beta}));
        if (leaves > alpha) {
          EXPECT_GE(check_coverage(star).least_cover, alpha);
        }
        if (beta > 0) {
          EXPECT_FALSE(find_indistinct(star, beta));
        }
        EXPECT_GE(star.size(), leaves > alpha ? fewest_paths(leaves, 2, {alpha, beta}) : 1);
      }
    }
  }
  EXPECT_EQ(star_graph(128, {1, 1}).size(), 86U);
  EXPECT_EQ(star_graph(128, {1, 2}).size(), 128U);
  EXPECT_EQ(star_graph(128, {1, 3}).size(), 192U);
  EXPECT_TRUE(star_graph(1, {1, 1}).empty());
}

/// A fast design against the greedy one over all paths, on a fabric small enough for both.
TEST(DetectorPaths, AreAsGoodAsTheListedSearch) {
  struct Case {
    std::string name;
    FabricOptions options;
    LinkScope scope;
  };
  for (const Case& c :
       {Case{"leaf-spine", test::two_tiers(3, 3, 2, 2), LinkScope::kSwitchLinks},
        Case{"with access", test::two_tiers(3, 3, 2, 2), LinkScope::kSwitchAndAccessLinks},
        Case{"fat tree 4", fat_tree_options(4), LinkScope::kSwitchLinks},
        Case{"fat tree 6", fat_tree_options(6), LinkScope::kSwitchLinks}}) {
    SCOPED_TRACE(c.name);
    const Fabric fabric(c.options);
    const DesignSpace space(fabric, c.scope);
    const auto listed = listed_cover(space, {1, 1});
    const auto design = detector_paths(fabric, {.scope = c.scope});
    ASSERT_TRUE(listed && design);
    EXPECT_TRUE(listed->complete && design->complete);
    EXPECT_FALSE(find_indistinct(design->links, 1));
    EXPECT_LE(design->paths.size() * 10, listed->paths.size() * 12);
    EXPECT_GE(design->paths.size(), design->fewest);
  }
}

TEST(DetectorPaths, ReachTheGoalOnEveryPresetOrSayNo) {
  for (const test::NamedFabric& named : test::small_fabrics()) {
    for (const LinkScope scope : {LinkScope::kSwitchLinks, LinkScope::kSwitchAndAccessLinks}) {
      for (const PmcGoal& goal : {PmcGoal{1, 0}, PmcGoal{1, 1}, PmcGoal{2, 1}, PmcGoal{1, 2}}) {
        SCOPED_TRACE(named.name + (scope == LinkScope::kSwitchLinks ? "" : " with access") + " (" +
                     std::to_string(goal.alpha) + "," + std::to_string(goal.beta) + ")");
        const Fabric fabric(named.options);
        const auto design = detector_paths(fabric, {.goal = goal, .scope = scope});
        ASSERT_TRUE(design);
        const CoverageCheck check = check_coverage(design->links);
        const bool reached = check.least_cover >= goal.alpha &&
                             (goal.beta == 0 || !find_indistinct(design->links, goal.beta));
        if (design->complete) {
          EXPECT_TRUE(reached);
          EXPECT_GE(design->paths.size(), design->fewest);
        }
      }
    }
  }
}

// A path's links are those that the fabric says its way crosses.
TEST(DetectorPaths, CrossWhatTheySay) {
  for (const test::NamedFabric& named : test::small_fabrics()) {
    for (const LinkScope scope : {LinkScope::kSwitchLinks, LinkScope::kSwitchAndAccessLinks}) {
      SCOPED_TRACE(named.name);
      const Fabric fabric(named.options);
      const auto design = detector_paths(fabric, {.scope = scope});
      ASSERT_TRUE(design);
      ASSERT_EQ(design->paths.size(), design->links.size());
      for (std::size_t p = 0; p < design->paths.size(); ++p) {
        const DetectorPath& path = design->paths[p];
        std::vector<CableId> expected;
        const LinkPath way = fabric.path(path.source, path.target, path.way);
        for (const LinkId link : way.span()) {
          const CableId cable = Fabric::cable_of(link);
          if (scope == LinkScope::kSwitchAndAccessLinks || !fabric.is_access(cable)) {
            expected.push_back(cable);
          }
        }
        std::vector<CableId> said;
        for (const std::uint32_t link : design->links[p]) {
          said.push_back(design->cables[link]);
        }
        std::sort(expected.begin(), expected.end());
        std::sort(said.begin(), said.end());
        EXPECT_EQ(said, expected);
        EXPECT_NE(fabric.host_of(path.source), fabric.host_of(path.target));
      }
    }
  }
}

TEST(DetectorPaths, MeasureTheLargestRailFabric) {
  const Fabric fabric(test::two_tiers(128, 16, 8, 8));
  struct Case {
    LinkScope scope;
    PmcGoal goal;
    std::uint64_t paths;
    std::uint64_t fewest;
  };
  for (const Case& c : {Case{LinkScope::kSwitchLinks, {1, 1}, 5'464, 5'462},
                        Case{LinkScope::kSwitchLinks, {1, 2}, 8'192, 8'192},
                        Case{LinkScope::kSwitchLinks, {1, 3}, 12'288, 12'288},
                        Case{LinkScope::kSwitchAndAccessLinks, {1, 1}, 10'936, 10'923},
                        Case{LinkScope::kSwitchAndAccessLinks, {2, 1}, 16'384, 16'384},
                        Case{LinkScope::kSwitchAndAccessLinks, {1, 2}, 16'384, 16'384}}) {
    const auto design = detector_paths(fabric, {.goal = c.goal, .scope = c.scope});
    ASSERT_TRUE(design);
    EXPECT_TRUE(design->complete);
    EXPECT_EQ(design->paths.size(), c.paths);
    EXPECT_EQ(design->fewest, c.fewest);
    const CoverageCheck check = check_coverage(design->links);
    EXPECT_EQ(check.distinguishable, check.links);
    EXPECT_GE(check.least_cover, c.goal.alpha);
  }
}

// Rings are proved (access_designs.h) and judged all the same.
TEST(DetectorPaths, RingsTellPairsApart) {
  for (const FabricOptions& options : {test::two_tiers(16, 16, 2, 8),
                                       test::two_tiers(40, 16, 1, 6),
                                       test::two_tiers(20, 12, 1, 6)}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(testing::Message() << options.segments << " segments, seed=" << seed);
      const Fabric fabric(options);
      const auto design = detector_paths(
          fabric, {.goal = {1, 2}, .scope = LinkScope::kSwitchAndAccessLinks, .seed = seed});
      ASSERT_TRUE(design);
      EXPECT_TRUE(design->complete);
      EXPECT_GE(design->paths.size(), fabric.rnic_count());
      EXPECT_LE(design->paths.size() * 10, fabric.rnic_count() * 11U);
      EXPECT_FALSE(find_indistinct(design->links, 2));
    }
  }
}

TEST(DetectorPaths, FollowFromTheSeed) {
  const Fabric fabric(test::two_tiers(8, 4, 2, 4));
  const DetectorOptions options{.scope = LinkScope::kSwitchAndAccessLinks, .seed = 3};
  EXPECT_EQ(detector_paths(fabric, options)->links.links,
            detector_paths(fabric, options)->links.links);
}

}  // namespace
}  // namespace bonescan
