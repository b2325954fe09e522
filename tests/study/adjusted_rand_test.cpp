#include "tools/study/adjusted_rand.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace bonescan {
namespace {

using Groups = std::vector<std::uint32_t>;

TEST(AdjustedRand, IsOneForTheSameGroupsUnderOtherNames) {
  EXPECT_EQ(adjusted_rand_index(Groups{0, 0, 1, 1, 2}, Groups{2, 2, 0, 0, 1}), 1.0);
  EXPECT_EQ(adjusted_rand_index(Groups{0, 0, 0}, Groups{5, 5, 5}), 1.0);
  EXPECT_EQ(adjusted_rand_index(Groups{0, 1, 2}, Groups{2, 1, 0}), 1.0);
}

TEST(AdjustedRand, IsZeroOrLessWhereNothingIsTold) {
  EXPECT_EQ(adjusted_rand_index(Groups{0, 0, 1, 1}, Groups{0, 0, 0, 0}), 0.0);
  // Every pair of one is split by the other: (0 - 2/3) / (2 - 2/3).
  EXPECT_NEAR(adjusted_rand_index(Groups{0, 0, 1, 1}, Groups{0, 1, 0, 1}), -0.5, 1e-12);
}

// Values of scikit-learn 1.2.1's adjusted_rand_score on random groupings.
TEST(AdjustedRand, EqualsAnotherImplementation) {
  struct Case {
    Groups a;
    Groups b;
    double index;
  };

  const Case cases[] = {
      {{2, 0, 0, 0, 0, 2, 2, 1, 0, 0, 0, 1}, {2, 0, 2, 0, 0, 2, 2, 1, 2, 0, 0, 1}, 0.468277945619},
      {{3, 0, 3, 1, 3, 2, 0, 3, 3, 3, 0, 0, 2, 2, 0, 3, 0, 0, 3, 2,
        0, 0, 3, 3, 3, 3, 1, 2, 1, 0, 0, 0, 0, 1, 3, 3, 2, 0, 0, 2},
       {3, 0, 0, 1, 3, 0, 0, 0, 3, 3, 0, 1, 2, 1, 0, 3, 3, 0, 3, 2,
        1, 0, 3, 3, 3, 3, 1, 2, 2, 0, 0, 0, 2, 1, 3, 3, 2, 1, 0, 3},
       0.420815972938},
  };
  for (const Case& c : cases) {
    EXPECT_NEAR(adjusted_rand_index(c.a, c.b), c.index, 1e-9);
    EXPECT_NEAR(adjusted_rand_index(c.b, c.a), c.index, 1e-9);
  }
}

}  // namespace
}  // namespace bonescan
