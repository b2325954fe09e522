// Laws of failures against their closed forms.
#include "faults/processes/failure_laws.h"

#include "faults/processes/arrivals.h"
#include "sim/base/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bonescan::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// Mean of f over (0, 1), by midpoints.
template <class F>
double mean_of(F&& f) {
  constexpr int kPoints = 200'000;
  double sum = 0.0;
  for (int i = 0; i < kPoints; ++i) {
    sum += f((i + 0.5) / kPoints);
  }
  return sum / kPoints;
}

TEST(Weibull, HasItsQuantilesAndItsMean) {
  for (const double shape : {0.6, 1.0, 2.0}) {
    const double scale = 10.0 / std::tgamma(1.0 + 1.0 / shape);
    for (const double u : {0.01, 0.5, 0.9, 0.999}) {
      const double x = weibull_quantile(u, shape, 10.0);
      EXPECT_NEAR(1.0 - std::exp(-std::pow(x / scale, shape)), u, 1e-12) << shape;
    }
    EXPECT_NEAR(mean_of([&](double u) { return weibull_quantile(u, shape, 10.0); }), 10.0, 0.01);
  }
  EXPECT_NEAR(weibull_quantile(0.3, 1.0, 5.0), exponential_quantile(0.3, 5.0), 1e-12);
}

// CV^2 = Gamma(1 + 2/k) / Gamma(1 + 1/k)^2 - 1.
TEST(Weibull, OfTheDefaultShapeIsAsBurstyAsThePublishedTrace) {
  const double mean = std::tgamma(1.0 + 1.0 / 0.6);
  const double cv = std::sqrt(std::tgamma(1.0 + 2.0 / 0.6) / (mean * mean) - 1.0);
  EXPECT_NEAR(cv, 1.76, 0.02);
}

TEST(Gamma, HasItsDistribution) {
  for (const double x : {1e-6, 0.1, 0.7, 1.5, 3.0, 10.0, 40.0}) {
    EXPECT_NEAR(gamma_cdf(1.0, x), 1.0 - std::exp(-x), 1e-13) << x;
    EXPECT_NEAR(gamma_cdf(0.5, x), std::erf(std::sqrt(x)), 1e-13) << x;
    EXPECT_NEAR(gamma_cdf(2.0, x), 1.0 - (1.0 + x) * std::exp(-x), 1e-13) << x;
  }
  EXPECT_EQ(gamma_cdf(1.0, 0.0), 0.0);
}

TEST(Gamma, HasMeanOneAndTheVarianceOfItsShape) {
  for (const double shape : {0.5, 0.93, 4.0}) {
    for (const double u : {0.001, 0.2, 0.5, 0.95, 0.9999}) {
      EXPECT_NEAR(gamma_cdf(shape, shape * gamma_quantile(u, shape)), u, 1e-10) << shape;
    }
    constexpr int kPoints = 4'000;
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kPoints; ++i) {
      const double x = gamma_quantile((i + 0.5) / kPoints, shape);
      sum += x / kPoints;
      squares += x * x / kPoints;
    }
    EXPECT_NEAR(sum, 1.0, 0.002) << shape;
    EXPECT_NEAR(squares - sum * sum, 1.0 / shape, 0.01 / shape) << shape;
  }
  EXPECT_NEAR(gamma_quantile(0.4, 1.0), exponential_quantile(0.4, 1.0), 1e-9);
}

TEST(Repair, HasItsMedianAndItsNinetiethPercentile) {
  EXPECT_NEAR(seconds(repair_quantile(0.5, minutes(10), hours(1))), 600.0, 1e-5);
  EXPECT_NEAR(seconds(repair_quantile(0.9, minutes(10), hours(1))), 3'600.0, 1e-3);
  // Published for cables: mu 3.60 and sigma 1.76 of hours, so p50 36.6 h and p90 349 h.
  const double mean_h = mean_of([&](double u) {
                          return seconds(repair_quantile(
                              u, from_seconds(36.6 * 3'600.0), from_seconds(349.0 * 3'600.0)));
                        }) /
                        3'600.0;
  EXPECT_NEAR(mean_h, std::exp(std::log(36.6) + 1.76 * 1.76 / 2.0), 4.0);
  EXPECT_EQ(repair_quantile(0.77, minutes(3), minutes(3)), minutes(3));
}

TEST(Arrivals, ComeAtTheirRate) {
  double poisson = 0.0;
  double weibull = 0.0;
  double squares = 0.0;
  constexpr int kSeeds = 400;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RngStream stream(seed, Purpose::kTest, 0);
    const auto count = static_cast<double>(poisson_arrivals(stream, 0.01, minutes(100)).size());
    poisson += count;
    squares += count * count;
    weibull += static_cast<double>(weibull_arrivals(stream, 0.01, 0.6, minutes(1'000)).size());
  }
  const double mean = poisson / kSeeds;
  EXPECT_NEAR(mean, 60.0, 4.0 * std::sqrt(60.0 / kSeeds));
  EXPECT_NEAR(squares / kSeeds - mean * mean, 60.0, 4.0 * 60.0 * std::sqrt(2.0 / kSeeds));
  // A renewal process that starts with a whole gap: mean t/m + (cv^2 - 1) / 2.
  const double expected = 600.0 + (1.76 * 1.76 - 1.0) / 2.0;
  EXPECT_NEAR(weibull / kSeeds, expected, 4.0 * 1.76 * std::sqrt(600.0 / kSeeds));
  EXPECT_TRUE(poisson_arrivals(RngStream(1, Purpose::kTest, 0), 0.0, hours(1)).empty());
}

}  // namespace
}  // namespace bonescan::test
