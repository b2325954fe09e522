#include "sim/base/error.h"

#include <gtest/gtest.h>

namespace bonescan {
namespace {

Expected<int> half(int value) {
  if (value % 2 != 0) {
    return fail(ErrorCode::kInvalid, "odd: " + std::to_string(value));
  }
  return value / 2;
}

TEST(Expected, HoldsAValueOrAnErrorWithItsDetail) {
  EXPECT_EQ(half(6).value(), 3);
  const Expected<int> odd = half(7);
  ASSERT_FALSE(odd.has_value());
  EXPECT_EQ(odd.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(odd.error().detail, "odd: 7");
}

}  // namespace
}  // namespace bonescan
