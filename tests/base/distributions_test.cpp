#include "sim/base/distributions.h"

#include "sim/base/rng_stream.h"

#include <boost/math/distributions/normal.hpp>
#include <gtest/gtest.h>

#include <cmath>

namespace bonescan {
namespace {

// The probabilities at which a quantile function of pieces may go wrong: the tails that 52 bits
// can reach, both sides of the seams at 0.02425, and the middle.
constexpr double kProbabilities[] = {
    0x1.0p-53, 0x1.0p-33, 1e-12,         1e-6,         1e-3,     0.01, 0.024249999,
    0.02425,   0.024251,  0.1,           0.25,         0.49,     0.5,  0.51,
    0.75,      0.9,       0.975749999,   0.97575,      0.975751, 0.99, 0.999,
    1 - 1e-6,  1 - 1e-12, 1 - 0x1.0p-33, 1 - 0x1.0p-53};

TEST(NormalQuantile, EqualsBoostOverItsWholeDomain) {
  const boost::math::normal_distribution<double> reference;
  for (const double u : kProbabilities) {
    const double want = boost::math::quantile(reference, u);
    EXPECT_NEAR(normal_quantile(u), want, 1e-8) << "u=" << u;
  }
  const RngStream stream(3, Purpose::kTest, 0);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const double u = stream.open01_at(i);
    EXPECT_NEAR(normal_quantile(u), boost::math::quantile(reference, u), 1e-8) << "u=" << u;
  }
}

TEST(NormalQuantile, IsOddAroundTheMedian) {
  EXPECT_EQ(normal_quantile(0.5), 0.0);
  for (const double u : {0x1.0p-40, 0x1.0p-10, 0.125, 0.375}) {
    EXPECT_NEAR(normal_quantile(u), -normal_quantile(1 - u), 1e-15) << "u=" << u;
  }
}

TEST(ExponentialQuantile, IsTheInverseOfTheDistribution) {
  EXPECT_NEAR(exponential_quantile(0.5, 2.0), 2.0 * std::log(2.0), 1e-15);
  EXPECT_NEAR(exponential_quantile(1 - std::exp(-3.0), 0.25), 0.75, 1e-14);
  EXPECT_EQ(exponential_quantile(0.7, 0.0), 0.0);
  // log1p keeps the lower tail: -log(1 - u) would be 0 here.
  EXPECT_NEAR(exponential_quantile(1e-17, 1.0) / 1e-17, 1.0, 1e-12);
}

TEST(LognormalQuantile, IsTheExponentialOfANormal) {
  EXPECT_NEAR(lognormal_quantile(0.5, 1.5, 0.7), std::exp(1.5), 1e-15 * std::exp(1.5));
  // Phi(1) and Phi(-2), to 16 digits.
  EXPECT_NEAR(lognormal_quantile(0.8413447460685429, 0.0, 1.0), std::exp(1.0), 3e-8);
  EXPECT_NEAR(lognormal_quantile(0.022750131948179212, 3.0, 0.5), std::exp(2.0), 8e-8);
  EXPECT_NEAR(lognormal_quantile(0.99, 2.0, 0.0), std::exp(2.0), 1e-14);
}

TEST(Quantiles, GiveTheMeansOfTheirDistributions) {
  constexpr int kDraws = 200'000;
  const RngStream stream(5, Purpose::kTest, 0);
  double normal = 0;
  double exponential = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    normal += normal_quantile(stream.open01_at(i));
    exponential += exponential_quantile(stream.open01_at(i), 3.0);
  }
  const double five_standard_errors = 5 / std::sqrt(kDraws);
  EXPECT_NEAR(normal / kDraws, 0.0, five_standard_errors);
  EXPECT_NEAR(exponential / kDraws, 3.0, 3.0 * five_standard_errors);
}

}  // namespace
}  // namespace bonescan
