#include "planner/matrix/coverage_check.h"

#include "sim/base/rng_stream.h"
#include "tests/planner/matrix/matrix_worlds.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace bonescan {
namespace {

using test::path_set;

TEST(CoverageCheck, CountsByHand) {
  const CoverageCheck check = check_coverage(path_set(5, {{0, 1}, {1, 2}, {1, 2, 3}}));
  EXPECT_EQ(check.links, 5U);
  EXPECT_EQ(check.covered, 4U);
  EXPECT_EQ(check.classes, 4U);
  EXPECT_EQ(check.distinguishable, 4U);
  EXPECT_EQ(check.least_cover, 0U);
  EXPECT_EQ(check.longest_path, 3U);
  const CoverageCheck alike = check_coverage(path_set(4, {{0, 1}, {0, 1, 2}, {3}}));
  EXPECT_EQ(alike.covered, 4U);
  EXPECT_EQ(alike.classes, 3U);
  EXPECT_EQ(alike.distinguishable, 2U);
  EXPECT_EQ(alike.least_cover, 1U);
  EXPECT_EQ(check_coverage({}).least_cover, 0U);
}

TEST(CoverageCheck, SeesLinksThatLookLikeNoneOrLikeOthers) {
  const auto uncovered = find_indistinct(path_set(3, {{0}, {0, 2}}), 1);
  ASSERT_TRUE(uncovered);
  EXPECT_TRUE(uncovered->one.empty());
  EXPECT_EQ(uncovered->other, std::vector<std::uint32_t>{1});
  const auto alike = find_indistinct(path_set(3, {{0, 2}, {1}}), 1);
  ASSERT_TRUE(alike);
  EXPECT_EQ(alike->one, std::vector<std::uint32_t>{0});
  EXPECT_EQ(alike->other, std::vector<std::uint32_t>{2});
}

// A link that another one hides is told apart alone, and not in a pair.
TEST(CoverageCheck, SeesHiddenLinks) {
  const PathSet hidden = path_set(2, {{0, 1}, {1}});
  EXPECT_FALSE(find_indistinct(hidden, 1));
  EXPECT_TRUE(find_indistinct(hidden, 2));
}

// Links as edges between paths: a triangle and a quadrilateral break pairs, five in a ring do not.
TEST(CoverageCheck, SeesShortRings) {
  EXPECT_TRUE(find_indistinct(path_set(3, {{0, 1}, {1, 2}, {2, 0}}), 2));
  EXPECT_TRUE(find_indistinct(path_set(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}), 2));
  const PathSet five = path_set(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}});
  EXPECT_FALSE(find_indistinct(five, 1));
  EXPECT_FALSE(find_indistinct(five, 2));
  EXPECT_TRUE(find_indistinct(five, 3));
}

// Nine paths, six links: rows and columns of a grid.
TEST(CoverageCheck, SeesGrids) {
  PathSet grid{.link_count = 6};
  for (std::uint32_t row = 0; row < 3; ++row) {
    for (std::uint32_t column = 0; column < 3; ++column) {
      const std::uint32_t links[] = {row, 3 + column};
      grid.add(links);
    }
  }
  EXPECT_FALSE(find_indistinct(grid, 2));
  const auto found = find_indistinct(grid, 3);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->one, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(found->other, (std::vector<std::uint32_t>{3, 4, 5}));
}

/// All sets of at most beta links, whatever the components.
bool naive_identifiable(const PathSet& paths, std::uint32_t beta) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << paths.link_count; ++chosen) {
    if (__builtin_popcountll(chosen) > static_cast<int>(beta)) {
      continue;
    }
    std::uint64_t crossed = 0;
    for (std::size_t p = 0; p < paths.size(); ++p) {
      for (const std::uint32_t link : paths[p]) {
        crossed |= chosen >> link & 1 ? std::uint64_t{1} << p : 0;
      }
    }
    if (!seen.insert(crossed).second) {
      return false;
    }
  }
  return true;
}

TEST(CoverageCheck, AgreesWithAllSets) {
  std::uint32_t yes = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const RngStream draws(seed, Purpose::kTest, 1);
    const auto links = static_cast<std::uint32_t>(3 + draws.at(0) % 6);
    const auto paths = static_cast<std::uint32_t>(2 + draws.at(1) % 14);
    PathSet set{.link_count = links};
    for (std::uint32_t p = 0; p < paths; ++p) {
      std::vector<std::uint32_t> path;
      for (std::uint32_t link = 0; link < links; ++link) {
        if (draws.at(100 + p * 20 + link) % 3 == 0) {
          path.push_back(link);
        }
      }
      set.add(path);
    }
    for (std::uint32_t beta = 1; beta <= 3; ++beta) {
      const bool expected = naive_identifiable(set, beta);
      yes += expected ? 1 : 0;
      EXPECT_EQ(!find_indistinct(set, beta), expected) << "seed=" << seed << " beta=" << beta;
    }
  }
  EXPECT_GT(yes, 100U);
}

// Taking any one path away from a tight design breaks it, and the judge sees that.
TEST(CoverageCheck, MissesNoPathOfATightDesign) {
  const PathSet five = path_set(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}});
  for (std::size_t left_out = 0; left_out < five.size(); ++left_out) {
    PathSet rest{.link_count = 5};
    for (std::size_t p = 0; p < five.size(); ++p) {
      if (p != left_out) {
        rest.add(five[p]);
      }
    }
    EXPECT_TRUE(find_indistinct(rest, 2)) << left_out;
  }
}

}  // namespace
}  // namespace bonescan
