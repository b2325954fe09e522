#include "detectors/localize/path_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

PathHop up(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kUp};
}

PathHop down(std::uint32_t link) {
  return {ComponentId(link), LinkDirection::kDown};
}

class Columns : public ::testing::Test {
 protected:
  std::vector<PathEvidence> evidence() const {
    return {{&bad_, 100, 5, PairId(7)},
            {&good_, 50, 0, PairId(1)},
            {&again_, 10, 1, PairId(3)},
            {&untried_, 0, 0, PairId(2)}};
  }

  TracedPath bad_{{up(4), down(2)}, {up(2), down(4)}};
  TracedPath good_{{up(4), down(9)}, {}};
  TracedPath again_{{up(2), down(4)}, {up(4), down(2)}};  ///< the same links in another order
  TracedPath untried_{{up(1)}, {}};
  PathColumns columns_;
};

TEST_F(Columns, KeepBadPathsOnceAndTallyEverything) {
  columns_.load(evidence(), KeepPaths::kBad);
  ASSERT_EQ(columns_.link_count(), 4U);
  EXPECT_EQ(columns_.hop(0), up(2));
  EXPECT_EQ(columns_.hop(1), down(2));
  EXPECT_EQ(columns_.hop(2), up(4));
  EXPECT_EQ(columns_.hop(3), down(4));
  ASSERT_EQ(columns_.path_count(), 1U);
  EXPECT_EQ(columns_.trials(0), 110U);
  EXPECT_EQ(columns_.bad(0), 6U);
  EXPECT_EQ(columns_.tally(2).trials, 160U);
  EXPECT_EQ(columns_.tally(2).paths, 3U);
  EXPECT_EQ(columns_.tally(2).bad_paths, 2U);
  EXPECT_EQ(columns_.crossing_twice(2).paths, 2U);
  EXPECT_EQ(columns_.crossing_twice(3).bad, 6U);
  EXPECT_EQ(columns_.trial_hops(), 4U * 110 + 2U * 50);
  const std::vector<PairId> pairs(columns_.bad_pairs_of(0).begin(), columns_.bad_pairs_of(0).end());
  EXPECT_EQ(pairs, (std::vector<PairId>{PairId(3), PairId(7)}));
}

TEST_F(Columns, KeepAllPathsWhereAsked) {
  columns_.load(evidence(), KeepPaths::kAll);
  EXPECT_EQ(columns_.link_count(), 5U);
  EXPECT_EQ(columns_.path_count(), 2U);
  for (std::uint32_t link = 0; link < columns_.link_count(); ++link) {
    for (const std::uint32_t path : columns_.paths_of(link)) {
      const auto links = columns_.links_of(path);
      EXPECT_EQ(std::count(links.begin(), links.end(), link), 1);
    }
  }
}

TEST_F(Columns, ForgetTheLastLoad) {
  columns_.load(evidence(), KeepPaths::kAll);
  const std::vector<PathEvidence> one{{&good_, 5, 2, PairId(1)}, {&good_, 5, 0, PairId(1)}};
  columns_.load(one, KeepPaths::kBad);
  EXPECT_EQ(columns_.link_count(), 2U);
  EXPECT_EQ(columns_.tally(0).trials, 10U);
  EXPECT_EQ(columns_.trials(0), 5U) << "only what is bad has a row";
  EXPECT_EQ(columns_.pair_count(0), 1U);
  EXPECT_EQ(columns_.crossing_twice(0).paths, 0U);
  EXPECT_EQ(columns_.total().trials, 10U);
}

}  // namespace
}  // namespace bonescan
