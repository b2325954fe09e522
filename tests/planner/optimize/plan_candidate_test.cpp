// One schedule, judged: mixtures over lists, prices, limits.
#include "planner/optimize/plan_candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const PlanObjective kDead{.name = "dead pair",
                          .symptom = FailureSymptom::kLoss,
                          .size = 1.0,
                          .part = FailingPart::kPair,
                          .within = seconds(30)};

PlanQuestion question() {
  PlanQuestion asked;
  asked.tasks = {{{.rnics = 512, .tp = 8, .pp = 8, .dp = 8}, 2}};
  asked.objectives = {kDead};
  return asked;
}

TEST(GpusBehindAFailure, AreTheTaskThatIsHit) {
  const std::vector<TaskGroup> one{{{.rnics = 512}, 7}};
  EXPECT_DOUBLE_EQ(gpus_behind_a_failure(one), 512.0);
  // 8 RNICs in tasks of one, 8 in one task: half of the failures hit eight.
  const std::vector<TaskGroup> mixed{{{.rnics = 1}, 8}, {{.rnics = 8}, 1}};
  EXPECT_DOUBLE_EQ(gpus_behind_a_failure(mixed), 4.5);
  EXPECT_DOUBLE_EQ(gpus_behind_a_failure({}), 0.0);
}

TEST(JudgeObjective, OfOneLengthIsThePrediction) {
  const PlannedSchedule schedule;
  PlannedSchedule nine = schedule;
  nine.list_length = 9;
  const DelayPrediction alone = predict_delay(nine, {.pairs = 2}, {});
  const ObjectiveOutcome outcome =
      judge_objective(kDead, schedule, {}, weighted({{9, 512}}), minutes(30));
  ASSERT_TRUE(outcome.quantile_s && outcome.median_s);
  EXPECT_NEAR(*outcome.quantile_s, bonescan::seconds(*alone.quantile(0.95)), 1e-3);
  EXPECT_NEAR(*outcome.median_s, bonescan::seconds(*alone.quantile(0.5)), 1e-3);
  EXPECT_NEAR(outcome.expected_s, bonescan::seconds(*alone.mean()), 1e-6);
  EXPECT_TRUE(outcome.met);
}

// Half of the RNICs have short lists: the mixture lies between, and where both have found as much
// as is asked for together.
TEST(JudgeObjective, MixesLengthsByTheirRnics) {
  const PlannedSchedule schedule;
  const auto quantile = [&](const std::vector<ListLength>& lengths) {
    return *judge_objective(kDead, schedule, {}, weighted(lengths), minutes(30)).quantile_s;
  };
  const double both = quantile({{9, 512}, {63, 512}});
  EXPECT_GT(both, quantile({{9, 512}}));
  EXPECT_LT(both, quantile({{63, 512}}));
  PlannedSchedule lists = schedule;
  double found = 0.0;
  for (const std::uint32_t length : {9U, 63U}) {
    lists.list_length = length;
    found += 0.5 * predict_delay(lists, {.pairs = 2}, {}).within(from_seconds(both));
  }
  EXPECT_NEAR(found, 0.95, 1e-3);
}

TEST(JudgeObjective, CountsWhatIsNeverFoundAsNoticedByUsers) {
  PlanObjective little = kDead;
  little.symptom = FailureSymptom::kLatency;
  little.size = 1.1;  // Below what is reported.
  const ObjectiveOutcome outcome =
      judge_objective(little, {}, {}, weighted({{9, 512}}), minutes(30));
  EXPECT_FALSE(outcome.quantile_s);
  EXPECT_FALSE(outcome.met);
  EXPECT_DOUBLE_EQ(outcome.never, 1.0);
  EXPECT_DOUBLE_EQ(outcome.expected_s, 1'800.0);
}

TEST(JudgeCandidate, PricesProbesAndGpuHours) {
  PlanQuestion asked = question();
  asked.objectives[0].per_fleet_day = 32.0;
  asked.price.false_alarm_gpu_hours = 0.0;
  const PlanCandidate candidate = judge_candidate(
      asked, ProbeScheme::kSkeleton, weighted({{9, 1'024}}), seconds(2), std::uint8_t{10});
  EXPECT_DOUBLE_EQ(candidate.probes_per_rnic_s, 5.0);
  EXPECT_DOUBLE_EQ(candidate.sweep_s, 18.0);
  // 32 a day in 32,768 RNICs is one a day in 1,024; 512 GPUs wait.
  EXPECT_NEAR(
      candidate.gpu_hours_per_day, candidate.objectives[0].expected_s * 512.0 / 3'600.0, 1e-9);
  EXPECT_THAT(candidate.misses, IsEmpty());
}

TEST(JudgeCandidate, SaysWhatItMisses) {
  PlanQuestion asked = question();
  asked.objectives[0].within = std::chrono::milliseconds(10);
  asked.limits.eswitch_entries = 1.0;
  const PlanCandidate candidate = judge_candidate(
      asked, ProbeScheme::kSkeleton, weighted({{9, 1'024}}), seconds(1), std::uint8_t{10});
  EXPECT_FALSE(candidate.feasible());
  EXPECT_THAT(candidate.misses, ElementsAre(HasSubstr("dead pair"), HasSubstr("eswitch entries")));
}

TEST(JudgeCandidate, FindsSoonerWhatIsVisitedMoreOften) {
  double before = 0.0;
  for (const int visit_s : {1, 2, 4, 8}) {
    const PlanCandidate candidate = judge_candidate(question(),
                                                    ProbeScheme::kSkeleton,
                                                    weighted({{9, 512}, {17, 512}}),
                                                    seconds(visit_s),
                                                    std::uint8_t{10});
    EXPECT_GT(candidate.objectives[0].expected_s, before);
    before = candidate.objectives[0].expected_s;
  }
}

}  // namespace
}  // namespace bonescan
