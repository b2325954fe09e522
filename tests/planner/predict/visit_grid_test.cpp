#include "planner/predict/visit_grid.h"

#include "planner/predict/silent_company.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

namespace bonescan {
namespace {

using std::chrono_literals::operator""s;

TEST(VisitPattern, CountsVisitsFromTheSecondPeriodOn) {
  const VisitPattern pattern({1, 0, 2});
  EXPECT_EQ(pattern.first(), 1U);
  EXPECT_EQ(pattern.until(1), 0U);
  EXPECT_EQ(pattern.until(2), 2U);
  EXPECT_EQ(pattern.until(3), 3U);
  EXPECT_EQ(pattern.until(5), 5U);
  EXPECT_EQ(pattern.period_of(1), 2U);
  EXPECT_EQ(pattern.period_of(2), 2U);
  EXPECT_EQ(pattern.period_of(3), 3U);
  EXPECT_EQ(pattern.period_of(4), 5U);
  EXPECT_EQ(pattern.period_of(1'000'003), 1'000'004U) << "a million sweeps are no loop";
}

TEST(VisitPatterns, HaveTheVisitsOfAPairHalfASweepApart) {
  const auto patterns = visit_patterns({.list_length = 16}, 2);
  ASSERT_EQ(patterns.size(), 8U);
  for (const VisitPattern& pattern : patterns) {
    const std::uint64_t one = pattern.first() > 0 ? 8 : pattern.period_of(1);
    EXPECT_EQ(pattern.at(one), 1U);
    EXPECT_EQ(pattern.at(one + 8), 1U);
  }
}

TEST(VisitPatterns, OfAnRnicHoldOneVisitOfItsOwnAPeriod) {
  double none = 0.0;
  const auto patterns = visit_patterns({.list_length = 15}, 30);
  for (const VisitPattern& pattern : patterns) {
    const auto& visits = pattern.by_period();
    EXPECT_EQ(std::accumulate(visits.begin(), visits.end(), 0U), 30U);
    for (const std::uint32_t count : visits) {
      EXPECT_GE(count, 1U);
      none += count == 1 ? 1.0 : 0.0;
    }
  }
  // Odd lists are one place off here and there: periods without a visit by others.
  EXPECT_GT(none, 0.0);
  EXPECT_LT(none / static_cast<double>(15 * patterns.size()), 0.5);
}

TEST(VisitPatterns, AreFewHoweverLongTheLists) {
  for (const std::uint32_t list : {1U, 2U, 63U, 1'000U}) {
    for (const std::uint32_t pairs : {1U, 2U, 3U, 2 * list}) {
      const auto patterns = visit_patterns({.list_length = list}, pairs);
      EXPECT_GE(patterns.size(), 1U);
      EXPECT_LE(patterns.size(), kMostPatterns);
    }
  }
}

TEST(ReportDelay, IsThatOfTheReportAndOfThoseBeforeIt) {
  const PlannedSchedule schedule{.lateness = 2s};
  const ReportDelay delay = report_delay(
      schedule, {.late_report_share = 0.02, .late_by = 2s, .lost_report_share = 0.005});
  // On time itself, and the one before neither missing nor two turns late.
  EXPECT_NEAR(delay.within(0), 0.975 * (1.0 - 0.015), 1e-12);
  EXPECT_NEAR(delay.within(1), 0.985, 1e-12);
  EXPECT_NEAR(delay.within(2), 0.995, 1e-12);
  EXPECT_NEAR(delay.lost, 0.005, 1e-12);
}

TEST(ReportDelay, GivesUpWhatIsLaterThanItMayBe) {
  const ReportDelay delay =
      report_delay({}, {.late_report_share = 0.02, .late_by = 2s, .lost_report_share = 0.005});
  EXPECT_NEAR(delay.within(0), 0.975, 1e-12);
  EXPECT_NEAR(delay.lost, 0.025, 1e-12);
}

TEST(ExposedShare, FollowsTheProbesOfAVisit) {
  const PlannedSchedule schedule;
  // Four of ten probes after the onset: those from the seventh on, sent 0.6 to 0.7 into the period.
  EXPECT_DOUBLE_EQ(exposed_share(schedule, 0.59, 4), 1.0);
  EXPECT_NEAR(exposed_share(schedule, 0.65, 4), 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(exposed_share(schedule, 0.71, 4), 0.0);
  EXPECT_NEAR(exposed_share(schedule, 0.02, 10), 0.8, 1e-12);
}

TEST(SilentCompany, OpensAtOnceForOneAndWaitsForThreeLossyVisitsWithTwo) {
  const PlannedSchedule schedule;
  ASSERT_EQ(lossy_visits_to_accuse(schedule, {}, 30), 3U);
  const ReportDelay reports = report_delay(schedule, {});
  const auto one = turns_of_company(VisitPattern({1}), reports, {.silent = 1.0}, 3);
  EXPECT_NEAR(one.at(1), 1.0, 1e-9);
  const auto two = turns_of_company(VisitPattern({2}), reports, {.silent = 1.0}, 3);
  EXPECT_NEAR(two.at(1), 0.0, 1e-9);
  EXPECT_NEAR(two.at(2), 1.0, 1e-9);
  // Two that lost less than four probes tell nobody, and are evidence a turn later.
  const auto half = turns_of_company(VisitPattern({2}), reports, {.lossy = 1.0}, 3);
  EXPECT_NEAR(half.at(2), 1.0, 1e-9);
  const auto none = turns_of_company(VisitPattern({2}), reports, {}, 3);
  EXPECT_NEAR(none.at(2), 0.0, 1e-9);
  EXPECT_NEAR(none.at(3), 1.0, 1e-9);
}

}  // namespace
}  // namespace bonescan
