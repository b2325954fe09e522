#include "tools/evaluate/bounds.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <vector>

namespace bonescan {
namespace {

TEST(Bounds, AllSuccessesLeaveTheRootOfTheRisk) {
  const Estimate ratio = proportion_estimate(427, 427);
  EXPECT_NEAR(*ratio.lower, std::pow(0.05, 1.0 / 427), 1e-12);
  EXPECT_EQ(*ratio.upper, 1.0);
  EXPECT_GE(*ratio.lower, 0.993);
}

TEST(Bounds, OneSidedProportionAtHalfTheRiskIsTheTwoSidedGolden) {
  std::ifstream file(BONESCAN_SOURCE_DIR "/tests/golden/eval/intervals.json");
  const nlohmann::json rows = nlohmann::json::parse(file).at("cp");
  ASSERT_GE(rows.size(), 5U);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.dump());
    const Estimate ratio = proportion_estimate(row[0], row[1], 0.975);
    EXPECT_NEAR(*ratio.lower, row[2].get<double>(), 1e-9);
    EXPECT_NEAR(*ratio.upper, row[3].get<double>(), 1e-9);
  }
}

/// Quantiles of the beta and chi-squared distributions by SciPy.
TEST(Bounds, OneSidedBoundsEqualTheGolden) {
  const Estimate ratio = proportion_estimate(491, 500);
  EXPECT_NEAR(*ratio.lower, 0.9688000966265984, 1e-12);
  EXPECT_NEAR(*ratio.upper, 0.9905782920145227, 1e-12);
  const Estimate rate = rate_estimate(3, 1.0);
  EXPECT_NEAR(*rate.lower, 0.8176914471639534, 1e-12);
  EXPECT_NEAR(*rate.upper, 7.753656527932725, 1e-12);
}

TEST(Bounds, NoEventsBoundTheRateByMinusLogOfTheRisk) {
  const Estimate rate = rate_estimate(0, 6.25);
  EXPECT_EQ(*rate.value, 0.0);
  EXPECT_EQ(*rate.lower, 0.0);
  EXPECT_NEAR(*rate.upper, -std::log(0.05) / 6.25, 1e-12);
}

TEST(Bounds, NoTrialsLeaveEverythingUndefined) {
  EXPECT_FALSE(proportion_estimate(0, 0).lower);
  EXPECT_FALSE(rate_estimate(0, 0.0).upper);
  EXPECT_FALSE(paired_difference({}).value);
}

TEST(Bounds, TrialsWithoutFailureAreThoseOfTheClosedForm) {
  struct Case {
    double ratio;
    std::size_t trials;
  };
  for (const Case& c : {Case{0.957, 69}, {0.982, 165}, {0.993, 427}, {0.999, 2995}}) {
    SCOPED_TRACE(c.ratio);
    EXPECT_EQ(trials_without_failure(c.ratio), c.trials);
    EXPECT_GE(*proportion_estimate(c.trials, c.trials).lower, c.ratio);
    EXPECT_LT(*proportion_estimate(c.trials - 1, c.trials - 1).lower, c.ratio);
  }
}

TEST(Bounds, PairsForAMarginAreThoseOfTheClosedForm) {
  EXPECT_EQ(pairs_for_margin(0.01, 0.01), 619U);
  EXPECT_EQ(pairs_for_margin(0.03, 0.01), 1855U);
  EXPECT_EQ(pairs_for_margin(0.01, 0.005), 2474U);
  EXPECT_EQ(pairs_for_margin(0.03, 0.02), 464U);
}

/// With no discordant pair the score is sqrt(n d / (1 - d)), so the bound is z^2 / (n + z^2).
TEST(Bounds, PairsThatAgreeStillLeaveADifferenceOpen) {
  const Estimate difference = paired_difference({.both = 490, .neither = 10});
  const double z = 1.6448536269514722;
  EXPECT_EQ(*difference.value, 0.0);
  EXPECT_NEAR(*difference.lower, -z * z / (500 + z * z), 1e-9);
  EXPECT_NEAR(*difference.upper, z * z / (500 + z * z), 1e-9);
}

/// Roots of the score whose restricted likelihood was maximized by a numeric search (SciPy).
TEST(Bounds, PairedDifferenceEqualsTheGolden) {
  struct Case {
    std::size_t pairs;
    std::size_t gained;
    std::size_t lost;
    double lower;
    double upper;
  };
  const std::vector<Case> cases = {
      {500, 0, 15, -0.0452972, -0.0197618},
      {500, 0, 4, -0.0176994, -0.0025750},
      {500, 0, 5, -0.0203984, -0.0045642},
      {500, 3, 3, -0.0096541, 0.0096541},
      {50, 1, 9, -0.2694609, -0.0656985},
      {100, 10, 2, 0.0260213, 0.1436989},
      {30, 0, 1, -0.1364041, 0.0521485},
      {3000, 12, 20, -0.0059887, 0.0004537},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.lower);
    const Estimate difference = paired_difference({.both = c.pairs - c.gained - c.lost,
                                                   .only_first = c.lost,
                                                   .only_second = c.gained,
                                                   .neither = 0});
    EXPECT_NEAR(*difference.lower, c.lower, 1e-6);
    EXPECT_NEAR(*difference.upper, c.upper, 1e-6);
  }
}

/// p = R f / (R f + a) at R = 0.99, f = 26.2, a = 0.25.
TEST(Bounds, RestatedPrecisionIsTheClosedForm) {
  const auto recall = [](double confidence) { return proportion_estimate(1980, 2000, confidence); };
  const Estimate precision = restated_precision(recall, 1, 4.0, 26.2);
  EXPECT_NEAR(*precision.value, 0.99 * 26.2 / (0.99 * 26.2 + 0.25), 1e-12);
  const double recall_low = *proportion_estimate(1980, 2000, 0.995).lower;
  const double alarms_high = *rate_estimate(1, 4.0, 0.955).upper;
  EXPECT_NEAR(*precision.lower, recall_low * 26.2 / (recall_low * 26.2 + alarms_high), 1e-12);
  EXPECT_GT(*precision.upper, *precision.value);
}

/// What is not known of the recall must widen the interval.
TEST(Bounds, RestatedPrecisionIsLowerWhenLessIsKnownOfTheRecall) {
  const auto known = [](double confidence) {
    return proportion_estimate(19800, 20000, confidence);
  };
  const auto vague = [](double confidence) { return proportion_estimate(99, 100, confidence); };
  EXPECT_LT(*restated_precision(vague, 2, 8.0, 26.2).lower,
            *restated_precision(known, 2, 8.0, 26.2).lower);
}

}  // namespace
}  // namespace bonescan
