#include "detectors/shortterm/pooled_scale.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bonescan {
namespace {

FeatureVector all(double value) {
  FeatureVector features;
  features.fill(value);
  return features;
}

// `count` contributions of normal noise of standard deviation 0.1 around ten-window means.
void add_normal_window(PooledScale& scale, std::uint32_t window, std::size_t count) {
  const RngStream stream(5, Purpose::kTest, window);
  for (std::size_t i = 0; i < count; ++i) {
    scale.contribute(0, all(0.1 * normal_quantile(stream.open01_at(i)) * std::sqrt(1.1)), 10);
  }
  scale.close_window();
}

TEST(PooledScale, IsTrustedOnceEnoughWindowsContributed) {
  PooledScale scale({.minimum_contributions = 3});
  scale.contribute(4, all(0.1), 10);
  scale.contribute(4, all(0.1), 10);
  scale.close_window();
  EXPECT_FALSE(scale.trusted(4));
  scale.contribute(4, all(0.1), 10);
  EXPECT_FALSE(scale.trusted(4)) << "a window is judged with what was known before it";
  scale.close_window();
  EXPECT_TRUE(scale.trusted(4));
  EXPECT_FALSE(scale.trusted(0)) << "classes are apart";
}

TEST(PooledScale, EqualsItsClosedForm) {
  PooledScale scale({.forgetting = 0.5, .minimum_contributions = 1});
  scale.contribute(0, all(0.2), 4);  // 0.04 * 4 / 5 = 0.032
  scale.close_window();
  EXPECT_DOUBLE_EQ(scale.sd(0)[kP50], std::sqrt(0.032));
  scale.contribute(0, all(-0.1), 1);  // 0.01 / 2 = 0.005
  scale.close_window();
  EXPECT_DOUBLE_EQ(scale.sd(0)[kMax], std::sqrt((0.5 * 0.032 + 0.005) / 1.5));
  scale.close_window();  // nothing new, nothing forgotten
  EXPECT_DOUBLE_EQ(scale.sd(0)[kMin], std::sqrt((0.5 * 0.032 + 0.005) / 1.5));
}

TEST(PooledScale, HasALeastValue) {
  PooledScale scale({.minimum_contributions = 1});
  scale.contribute(0, all(0.0), 10);
  scale.close_window();
  EXPECT_EQ(scale.sd(0), all(PooledScaleOptions{}.least_sd));
}

TEST(PooledScale, FindsTheSpreadOfTheNoise) {
  PooledScale scale({});
  for (std::uint32_t w = 0; w < 50; ++w) {
    add_normal_window(scale, w, 200);
  }
  // Effective count near 5,700: a relative standard error of 0.9 %.
  EXPECT_NEAR(scale.sd(0)[kP50], 0.1, 0.004);
}

TEST(PooledScale, IsHardlyMovedByAFewContaminatedPairs) {
  PooledScale scale({});
  add_normal_window(scale, 0, 200);
  for (std::uint32_t w = 1; w < 50; ++w) {
    scale.contribute(0, all(2.0), 10);
    scale.contribute(0, all(2.0), 10);
    add_normal_window(scale, w, 198);
  }
  // Each 1 % counts at most 25 variances: sd grows to at most sqrt(0.99 / 0.75).  Unbounded: 0.21.
  EXPECT_LT(scale.sd(0)[kP50], 0.118);
}

TEST(PooledScale, FollowsALastingChangeOfSpread) {
  PooledScale scale({});
  add_normal_window(scale, 0, 200);
  for (std::uint32_t w = 1; w < 200; ++w) {
    for (std::size_t i = 0; i < 100; ++i) {
      scale.contribute(0, all(i % 2 == 0 ? 1.0 : -1.0), 10);
    }
    scale.close_window();
  }
  EXPECT_NEAR(scale.sd(0)[kP50], std::sqrt(10.0 / 11.0), 0.02);
}

}  // namespace
}  // namespace bonescan
