#include "detectors/longterm/drift_math.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bonescan {
namespace {

// E is a sum of w (1 - w)^i d_(t-i): its variance by adding up all covariances phi^|i - j|.
TEST(DriftMath, TheVarianceOfASmoothedSeriesIsTheSumOfItsCovariances) {
  for (const double phi : {0.0, 0.3, 0.7, 0.95}) {
    for (const double w : {0.05, 0.1, 0.5, 1.0}) {
      SCOPED_TRACE(testing::Message() << "phi " << phi << " w " << w);
      double sum = 0.0;
      for (int i = 0; i < 600; ++i) {
        for (int j = 0; j < 600; ++j) {
          sum += w * w * std::pow(1.0 - w, i + j) * std::pow(phi, std::abs(i - j));
        }
      }
      EXPECT_NEAR(ewma_variance_factor(w, phi), sum, 1e-9);
    }
  }
}

TEST(DriftMath, AMeanOfPersistentValuesIsWorthFewerOfThem) {
  EXPECT_DOUBLE_EQ(mean_variance_factor(48.0, 0.0), 1.0 / 48.0);
  EXPECT_DOUBLE_EQ(mean_variance_factor(48.0, 0.5), 3.0 / 48.0);
  EXPECT_DOUBLE_EQ(mean_variance_factor(2.0, 0.9), 1.0);
}

// E (d_t - d_(t-n))^2 = 2 var (1 - phi^n).
TEST(DriftMath, DifferencesTellPersistenceAndVariance) {
  for (const double phi : {0.0, 0.3, 0.7, 0.9}) {
    SCOPED_TRACE(phi);
    const double one = 2.0 * 0.04 * (1.0 - phi);
    const double three = 2.0 * 0.04 * (1.0 - phi * phi * phi);
    EXPECT_NEAR(phi_of_differences(one, three), phi, 1e-12);
    EXPECT_NEAR(variance_of_differences(one, phi), 0.04, 1e-12);
  }
  EXPECT_EQ(phi_of_differences(2.0, 1.0), 0.0);
  EXPECT_EQ(phi_of_differences(0.0, 1.0), 0.95);
  EXPECT_EQ(phi_of_differences(0.0, 0.0), 0.0);
}

TEST(DriftMath, AnUncertainReferenceMakesACumulativeSumDoubtful) {
  EXPECT_DOUBLE_EQ(cusum_log_p(10.0, 1.0, 0.0), -20.0);
  EXPECT_DOUBLE_EQ(cusum_log_p(10.0, 1.0, 0.2), -20.0 + 2.0 * 100.0 * 0.04);
  // Beyond k / (2 error^2) a larger sum only says that the reference was wrong.
  EXPECT_DOUBLE_EQ(cusum_log_p(50.0, 1.0, 0.2), -1.0 / (2.0 * 0.04));
  double last = 1.0;
  for (double h = 0.0; h < 60.0; h += 0.5) {
    EXPECT_LE(cusum_log_p(h, 1.0, 0.15), last);
    last = cusum_log_p(h, 1.0, 0.15);
  }
}

// trigamma(d / 2) for d = 4 is pi^2 / 6 - 1, for d = 20 it is 0.105166.
TEST(DriftMath, UnequalPairsAreWorthFewDegreesOfTheirClass) {
  EXPECT_EQ(prior_degrees(-0.1), 400.0);
  EXPECT_EQ(prior_degrees(10.0), 4.0);
  EXPECT_NEAR(prior_degrees(0.6449341), 4.0, 0.2);
  EXPECT_NEAR(prior_degrees(0.105166), 20.0, 0.1);
}

}  // namespace
}  // namespace bonescan
