#include "planner/predict/cost.h"

#include "planner/predict/false_alarms.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

namespace bonescan {
namespace {

using std::chrono_literals::operator""s;

TEST(PlanCost, IsWhatOneCountsByHand) {
  const PlannedSchedule schedule{.list_length = 15, .rnics = 32'768};
  const PlanCost cost = estimate_cost(schedule);
  EXPECT_DOUBLE_EQ(cost.probes_sent_per_s, 80.0);
  EXPECT_DOUBLE_EQ(cost.probes_answered_per_s, 80.0);
  EXPECT_NEAR(cost.agent_cores, 0.005, 1e-12);
  // 64 bytes in 140 more, ten requests and ten answers a second.
  EXPECT_DOUBLE_EQ(cost.wire_bits_per_s, 20 * 204 * 8);
  EXPECT_EQ(cost.queue_pairs, 8U);
  EXPECT_DOUBLE_EQ(cost.eswitch_entries, 30.0);
  EXPECT_DOUBLE_EQ(cost.visits_per_s, 32'768.0);
  EXPECT_DOUBLE_EQ(cost.controller_messages_per_s, 2.0 * 4'096);
  EXPECT_NEAR(cost.analyzer_cores, 0.1016, 1e-4);
  EXPECT_DOUBLE_EQ(cost.log_bytes_per_s, 32'768.0 * 67);
}

TEST(PlanCost, SaysWhereProbesMeasureTheirOwnUpcalls) {
  PlannedSchedule schedule{.list_length = 15};
  EXPECT_EQ(longest_gap(schedule), 8s);
  EXPECT_FALSE(estimate_cost(schedule).measures_own_upcalls);
  schedule.visit = 2s;
  EXPECT_TRUE(estimate_cost(schedule).measures_own_upcalls);
  EXPECT_DOUBLE_EQ(estimate_cost(schedule).eswitch_entries, 30.0 * 10.0 / 16.0);
  schedule.visit = 1s;
  schedule.counter_phase = false;
  EXPECT_TRUE(estimate_cost(schedule).measures_own_upcalls);
}

TEST(PlanCost, GrowsWithRnicsAndStaysTheSameForEach) {
  const PlanCost small = estimate_cost({.rnics = 1'000});
  const PlanCost large = estimate_cost({.rnics = 10'000'000});
  EXPECT_DOUBLE_EQ(small.agent_bytes, large.agent_bytes);
  EXPECT_DOUBLE_EQ(small.wire_bits_per_s, large.wire_bits_per_s);
  EXPECT_NEAR(large.analyzer_bytes / small.analyzer_bytes, 10'000.0, 1e-6);
  EXPECT_NEAR(large.analyzer_cores, 31.0, 1e-6);
}

TEST(FalseAlarms, AreThoseOfTheBudgets) {
  const FalseAlarms alarms = designed_false_alarms({}, {});
  EXPECT_NEAR(alarms.loss, 32'768 * 86'400.0 * 8 * 6e-12, 1e-9);
  EXPECT_LT(alarms.silence, 1e-9);
  EXPECT_DOUBLE_EQ(alarms.latency, 0.1);
  EXPECT_NEAR(alarms.total(), 0.236, 0.001);
  PlannedSchedule paper;
  paper.configuration = DetectionConfiguration::kPaper;
  EXPECT_DOUBLE_EQ(designed_false_alarms(paper, {}).loss, 0.0);
}

}  // namespace
}  // namespace bonescan
