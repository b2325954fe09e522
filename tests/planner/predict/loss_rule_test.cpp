#include "planner/predict/loss_rule.h"

#include "detectors/loss/component_evidence.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bonescan {
namespace {

double probes_to_alarm(double loss) {
  const PlannedSchedule schedule;
  return 10.0 * visits_to_alarm(schedule, loss_rule(schedule, {}, 1.0), loss).mean();
}

// The documented formula, beside what ComponentEvidence says of itself.
TEST(LossRule, HasTheThresholdsOfTheTests) {
  const ComponentEvidence tests({});
  const double base = -std::expm1(10.0 * std::log1p(-1e-5));
  for (std::size_t test = 0; test < ComponentEvidence::kTests; ++test) {
    const double rate = ComponentEvidence::kRates[test];
    const double lossy = -std::expm1(10.0 * std::log1p(-rate));
    const double silent = std::max(std::pow(rate, 10.0), 0.1 * rate);
    const double jump = std::log((lossy - silent) / (0.999 * base));
    const double shares[] = {0.03, 0.04, 0.07, 0.72, 0.06, 0.04, 0.04};
    EXPECT_NEAR(tests.threshold(test),
                std::log(lossy * -std::expm1(-jump) / jump / (shares[test] * 6e-12)),
                0.01);
  }
}

TEST(LossRule, AllowsTwoCleanVisitsAmongThreeLossyOnes) {
  const LossRule rule = loss_rule({}, {}, 1.0);
  EXPECT_LT(rule.allowed[1], 0);
  EXPECT_LT(rule.allowed[2], 0);
  EXPECT_EQ(rule.allowed[3], 2);
  for (std::size_t n = 4; n < rule.allowed.size(); ++n) {
    EXPECT_GT(rule.allowed[n], rule.allowed[n - 1]) << n;
  }
  // A base that is lower makes each lossy visit worth more.
  EXPECT_GT(loss_rule({}, {.base_loss_ratio = 1e-6}, 1.0).allowed[3], 2);
}

TEST(LossRule, OfThePaperCountsLossyVisitsOfAMinute) {
  PlannedSchedule schedule;
  schedule.configuration = DetectionConfiguration::kPaper;
  const LossRule rule = loss_rule(schedule, {}, 2.0);
  // 3 of 120: 3 ln(0.025 / 1e-4) - 117 * 0.0252 = 13.6 nats are not enough, 4 of 120 are.
  EXPECT_LT(rule.allowed[3], 0);
  EXPECT_EQ(rule.allowed[4], 116);
}

// loss/METHODS.md: mean probes over one link until it alarms, seeds 11 and 13 of its own test.
TEST(VisitsToAlarm, AreThoseThatWereMeasured) {
  EXPECT_NEAR(probes_to_alarm(0.001), 6'541.0, 130.0);
  EXPECT_NEAR(probes_to_alarm(0.01), 448.5, 9.0);
  EXPECT_NEAR(probes_to_alarm(0.05), 86.5, 2.0);
  EXPECT_NEAR(probes_to_alarm(0.2), 34.0, 1.0);
}

// The test for 1 %: (threshold to threshold + one jump) over the drift.  @paper Wald 1945
TEST(VisitsToAlarm, LieWithinWaldsBounds) {
  const ComponentEvidence tests({});
  constexpr std::size_t kOnePercent = 2;
  const double jump = tests.increments(10, 1)[kOnePercent];
  const double clean = tests.increments(10, 0)[kOnePercent];
  const double lossy = -std::expm1(10.0 * std::log1p(-0.01));
  const double drift = lossy * jump + (1.0 - lossy) * clean;
  const double threshold = tests.threshold(kOnePercent);
  EXPECT_GT(probes_to_alarm(0.01), 10.0 * threshold / drift);
  EXPECT_LT(probes_to_alarm(0.01), 10.0 * (threshold + jump) / drift);
}

TEST(VisitsToAlarm, AreSilentWhereLossIsHeavy) {
  const PlannedSchedule schedule;
  const LossRule rule = loss_rule(schedule, {}, 1.0);
  const VisitsToAlarm full = visits_to_alarm(schedule, rule, 1.0);
  ASSERT_EQ(full.silent.size(), 1U);
  EXPECT_EQ(full.silent[0].visits, 1U);
  EXPECT_NEAR(full.silent[0].share, 1.0, 1e-9);
  EXPECT_TRUE(visits_to_alarm(schedule, rule, 0.01).silent.empty());
  EXPECT_FALSE(visits_to_alarm(schedule, rule, 0.6).silent.empty());
}

}  // namespace
}  // namespace bonescan
