#include "sim/base/median.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace bonescan {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfBoth) {
  std::vector<double> none;
  std::vector<double> odd = {9.0, 1.0, 5.0};
  std::vector<double> even = {8.0, 1.0, 4.0, 2.0};
  EXPECT_EQ(median(none), 0.0);
  EXPECT_EQ(median(odd), 5.0);
  EXPECT_EQ(median(even), 3.0);
}

TEST(Median, OfIntegersDoesNotOverflow) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> large = {kMost, kMost - 2};
  std::vector<std::uint32_t> apart = {7, 2};
  EXPECT_EQ(median(large), kMost - 1);
  EXPECT_EQ(median(apart), 4U) << "rounded down";
}

}  // namespace
}  // namespace bonescan
