#include "skeleton/drift_statistics.h"

#include "sim/base/distributions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bonescan {
namespace {

constexpr int kSteps = 20'000;

TEST(DriftStatistics, ACusumStartsAfreshAtZero) {
  Cusum sum;
  for (const double increment : {-3.0, 1.0, 2.0}) {
    sum.add(increment);
  }
  EXPECT_EQ(sum.sum(), 3.0);
  sum.add(-4.0);
  EXPECT_EQ(sum.sum(), 0.0);
}

TEST(DriftStatistics, IncrementsHaveTheirClosedForms) {
  // Loss of 0.6 of 2: 2 * 1.2 - 1.2^2 / 2.
  EXPECT_NEAR(missing_increment(-2.0, 2.0), 1.68, 1e-12);
  EXPECT_NEAR(missing_increment(0.0, 2.0), -0.72, 1e-12);
  EXPECT_EQ(missing_increment(-1.0, 0.0), 0.0);
  EXPECT_EQ(missing_increment(-10.0, 10.0), 7.0);
  EXPECT_EQ(missing_increment(10.0, 10.0), -7.0);
  EXPECT_NEAR(spread_increment(0.0, 4.0), std::log(0.75 + 0.25 / 4.0), 1e-12);
  EXPECT_NEAR(spread_increment(-2.0, 4.0), std::log(0.75 + 0.25 / 4.0 * std::exp(1.875)), 1e-12);
  EXPECT_EQ(spread_increment(9.0, 4.0), spread_increment(-4.0, 4.0));
}

TEST(DriftStatistics, AreLikelihoodRatios) {
  // The mean of exp(increment) over what is usual is 1, and below 1 where outliers are clipped.
  double missing = 0.0;
  double spread = 0.0;
  double clipped = 0.0;
  for (int i = 0; i < kSteps; ++i) {
    const double normal = normal_quantile((i + 0.5) / kSteps);
    missing += std::exp(missing_increment(normal, 1.0)) / kSteps;
    spread += std::exp(spread_increment(normal, 100.0)) / kSteps;
    clipped += std::exp(spread_increment(normal, 3.0)) / kSteps;
  }
  EXPECT_NEAR(missing, 1.0, 1e-3);
  // The sum ends at four deviations, and a third of the wide half lies beyond.
  EXPECT_LT(spread, 1.0);
  EXPECT_GT(spread, 0.9);
  EXPECT_LT(clipped, spread);
}

TEST(DriftStatistics, WithoutPeaksTheThresholdIsLordens) {
  Excursions none;
  EXPECT_EQ(none.threshold(1000.0), std::log(1000.0));
  const std::vector<double> falling(100, -1.0);
  for (int i = 0; i < 8; ++i) {
    none.add(falling);
  }
  EXPECT_EQ(none.peak_count(), 0U);
  EXPECT_EQ(none.threshold(1000.0), std::log(8000.0));
}

TEST(DriftStatistics, HeavyPeaksRaiseTheThreshold) {
  // 1,000 columns of 500 peaks with an exponential tail of mean 2: the 50 highest lie 2 above the
  // one below them in the mean.
  std::vector<double> increments;
  for (int i = 0; i < 500; ++i) {
    const double peak = exponential_quantile((i + 0.5) / 500.0, 2.0);
    increments.push_back(peak);
    increments.push_back(-2.0 * peak);
  }
  Excursions peaks;
  peaks.add(increments);
  EXPECT_EQ(peaks.peak_count(), 500U);
  const double above = exponential_quantile(449.5 / 500.0, 2.0);
  const double slope = 2.0 * (1.0 + 2.0 / std::sqrt(50.0));
  EXPECT_NEAR(peaks.threshold(1e6), above + slope * std::log(1e6 * 50.0 / 1000.0), 0.6);
  EXPECT_GT(peaks.threshold(1e6), std::log(1e6));
}

}  // namespace
}  // namespace bonescan
