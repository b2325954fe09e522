#include "sim/base/check.h"

#include <gtest/gtest.h>

namespace bonescan {
namespace {

std::string describe(const void* subject) {
  return "seed=" + std::to_string(*static_cast<const int*>(subject));
}

TEST(Check, PassesSilentlyAndEvaluatesOnce) {
  int evaluations = 0;
  BONESCAN_CHECK(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckDeathTest, PrintsPlaceAndExpression) {
  const int ports = 3;
  EXPECT_DEATH(BONESCAN_CHECK(ports == 4), "check_test\\.cpp:[0-9]+: check failed: ports == 4");
}

TEST(CheckDeathTest, PrintsTheInnermostContextThatLives) {
  const int outer = 1;
  const int inner = 2;
  const ScopedCheckContext outer_scope(describe, &outer);
  EXPECT_DEATH(
      {
        const ScopedCheckContext inner_scope(describe, &inner);
        BONESCAN_CHECK(outer == inner);
      },
      "check failed: outer == inner\n +seed=2");
  { const ScopedCheckContext inner_scope(describe, &inner); }
  EXPECT_DEATH(BONESCAN_CHECK(outer == inner), "check failed: outer == inner\n +seed=1");
}

TEST(CheckDeathTest, DcheckIsOnOnlyWhereAskedFor) {
  const int ports = 3;
  static_cast<void>(ports);
#ifdef BONESCAN_DCHECKS
  EXPECT_DEATH(BONESCAN_DCHECK(ports == 4), "check failed: ports == 4");
#else
  BONESCAN_DCHECK(ports == 4);
#endif
}

}  // namespace
}  // namespace bonescan
