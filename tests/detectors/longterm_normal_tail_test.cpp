// Closed forms, scipy 1.10.1, and the numbers of the long-term test on four pairs of samples.
#include "detectors/longterm/lognormal_z.h"
#include "detectors/longterm/normal_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using Json = nlohmann::json;

constexpr double kTolerance = 1e-9;

Json golden() {
  std::ifstream file(BONESCAN_SOURCE_DIR "/tests/golden/longterm/ztest_golden.json");
  return Json::parse(file);
}

/// 1e-9, relative where that is more; the file's numbers have twelve digits.
void expect_close(double got, double expected) {
  EXPECT_NEAR(got, expected, kTolerance * std::max(1.0, std::abs(expected)));
}

TEST(NormalTail, AgreesWithScipyFarBeyondUnderflow) {
  const Json all = golden();
  for (const Json& row : all["norm_logsf"]) {
    SCOPED_TRACE(row.dump());
    expect_close(normal_log_sf(row[0].get<double>()), row[1].get<double>());
  }
}

TEST(NormalTail, IsOneHalfInTheMiddleAndTheComplementOnTheOtherSide) {
  EXPECT_NEAR(normal_log_sf(0.0), -std::numbers::ln2, 1e-15);
  for (const double z : {0.1, 0.9, 1.1, 3.0, 6.0}) {
    SCOPED_TRACE(z);
    EXPECT_NEAR(std::exp(normal_log_sf(z)) + std::exp(normal_log_sf(-z)), 1.0, 1e-15);
  }
  EXPECT_EQ(normal_log_sf(std::numeric_limits<double>::infinity()),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(normal_log_sf(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(NormalTail, HasNoStepWhereOneMethodTakesOverFromTheOther) {
  for (const double z : {-1.0, 10.0}) {
    SCOPED_TRACE(z);
    const double below = normal_log_sf(std::nextafter(z, -100.0));
    EXPECT_NEAR(normal_log_sf(z) / below, 1.0, 1e-12);
  }
}

TEST(NormalTail, FallsStrictly) {
  double last = 1.0;
  for (double z = -8.0; z < 80.0; z += 0.125) {
    EXPECT_LT(normal_log_sf(z), last) << z;
    last = normal_log_sf(z);
  }
}

TEST(NormalTail, TwoSidedIsTwiceOneSide) {
  EXPECT_EQ(normal_log_p_two_sided(0.0), 0.0);
  EXPECT_NEAR(normal_log_p_two_sided(5.0) - normal_log_sf(5.0), std::numbers::ln2, 1e-14);
  EXPECT_EQ(normal_log_p_two_sided(-5.0), normal_log_p_two_sided(5.0));
}

TEST(NormalTail, TheThresholdOfABudgetIsScipys) {
  const Json all = golden();
  for (const Json& row : all["norm_isf"]) {
    expect_close(normal_z_of_log_sf(std::log(row[0].get<double>())), row[1].get<double>());
  }
  for (const auto& [p, z] : all["quantiles"].items()) {
    SCOPED_TRACE(p);
    expect_close(normal_z_of_log_sf(std::log(std::stod(p))), z.get<double>());
  }
}

TEST(NormalTail, TheThresholdIsTheInverseOfTheTail) {
  for (const double z : {-6.0, -1.0, 0.0, 0.5, 9.99, 10.01, 37.0, 71.66, 500.0}) {
    SCOPED_TRACE(z);
    EXPECT_NEAR(normal_z_of_log_sf(normal_log_sf(z)), z, 1e-7 * std::max(1.0, std::abs(z)));
  }
}

// P(T > t) is 1/2 - atan(t)/pi for one degree of freedom, and (1 - t / sqrt(2 + t^2)) / 2 for two.
TEST(NormalTail, StudentsTailIsHeavier) {
  for (const double t : {2.0, 5.0, 8.0}) {
    SCOPED_TRACE(t);
    const double two = std::log((1.0 - t / std::sqrt(2.0 + t * t)) / 2.0);
    EXPECT_NEAR(normal_log_sf(student_as_normal(t, 2.0)) / two, 1.0, 0.04);
    EXPECT_NEAR(student_as_normal(t, 1e9), t, 1e-6);
    EXPECT_EQ(student_as_normal(-t, 12.0), -student_as_normal(t, 12.0));
    EXPECT_LT(student_as_normal(t, 5.0), student_as_normal(t, 50.0));
  }
  // The density, integrated numerically.
  EXPECT_NEAR(normal_log_sf(student_as_normal(6.0, 10.0)) / -9.625031, 1.0, 0.006);
  EXPECT_NEAR(normal_log_sf(student_as_normal(6.0, 40.0)) / -15.258067, 1.0, 0.001);
}

TEST(LognormalZ, AgreesWithScipyOnFourPairsOfSamples) {
  const Json all = golden();
  ASSERT_EQ(all["cases"].size(), 4u);
  for (const Json& one : all["cases"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const LogMoments base = log_moments(one["base"].get<std::vector<double>>());
    const LogMoments later = log_moments(one["test"].get<std::vector<double>>());
    const auto expected = [&](const char* key) { return one[key].get<double>(); };
    expect_close(base.mean, expected("mu_hat"));
    expect_close(base.sd, expected("sigma_hat_ddof1"));
    expect_close(base.sd_mle, expected("sigma_hat_mle"));
    expect_close(z_published(base, later), expected("z_one_sample_known_var"));
    expect_close(z_with_baseline_error(base, later), expected("z_with_baseline_error"));
    expect_close(z_two_sample(base, later), expected("z_two_sample_welch"));
    const double log_p = normal_log_p_two_sided(z_two_sample(base, later));
    expect_close(log_p, expected("log_p_two"));
    EXPECT_NEAR(std::exp(log_p), expected("p_z_two_sample"), 1e-9);
  }
}

// Two minutes of equally many samples: the published form is sqrt(2) too sure.
TEST(LognormalZ, ThePublishedFormForgetsTheErrorOfItsBaseline) {
  const LogMoments base{.count = 60, .mean = 2.77, .sd = 0.08};
  const LogMoments later{.count = 60, .mean = 2.80, .sd = 0.08};
  EXPECT_NEAR(
      z_published(base, later) / z_with_baseline_error(base, later), std::numbers::sqrt2, 1e-12);
}

}  // namespace
}  // namespace bonescan
