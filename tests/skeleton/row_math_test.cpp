#include "skeleton/row_math.h"

#include <gtest/gtest.h>

#include <vector>

namespace bonescan {
namespace {

TEST(RowMath, DotProductOfAnyLengthIsTheSumOfProducts) {
  for (std::size_t size = 0; size < 12; ++size) {
    std::vector<float> a;
    std::vector<float> b;
    double wanted = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      a.push_back(static_cast<float>(i) + 1.0F);
      b.push_back(i % 2 == 0 ? 2.0F : -3.0F);
      wanted += static_cast<double>(a.back()) * static_cast<double>(b.back());
    }
    EXPECT_EQ(dot(a, b), wanted) << size;
  }
}

TEST(RowMath, SquareDistanceIsThatOfEuclid) {
  const std::vector<double> a = {1.0, -2.0, 4.0};
  const std::vector<double> b = {4.0, 2.0, 4.0};
  EXPECT_EQ(square_distance(a, b), 25.0);
}

}  // namespace
}  // namespace bonescan
