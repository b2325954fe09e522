#include "planner/predict/delay.h"

#include "detectors/loss/component_evidence.h"
#include "planner/predict/late_visits.h"
#include "tests/support/dice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr PlannedFailure kFullLoss{.size = 1.0, .pairs = 2};

double quantile_s(const DelayPrediction& delay, double share) {
  const auto found = delay.quantile(share);
  return found ? seconds(*found) : INFINITY;
}

double mean_s(const DelayPrediction& delay) {
  const auto found = delay.mean();
  return found ? seconds(*found) : INFINITY;
}

// A pair is visited every g1 and g2 periods in turn.  The onset waits (g1^2 + g2^2) / (2 L) for the
// last probe that leaves four others behind it, which is sent 0.65 into its period on average; then
// the period ends, and the timeout passes.
TEST(PredictDelay, OfFullLossOfAPairIsHalfAGapAndTheRestOfTheTurn) {
  struct Case {
    std::string name;
    std::uint32_t list = 0;
    double gap = 0.0;
    double other = 0.0;
  };
  for (const Case& c : {Case{"list 9", 9, 4, 5},
                        Case{"list 17", 17, 8, 9},
                        Case{"list 25", 25, 12, 13},
                        Case{"list 16", 16, 8, 8}}) {
    SCOPED_TRACE(c.name);
    const PlannedSchedule schedule{.list_length = c.list};
    const DelayPrediction delay = predict_delay(schedule, kFullLoss);
    const double wait = (c.gap * c.gap + c.other * c.other) / (2.0 * c.list);
    EXPECT_NEAR(mean_s(delay), wait + 0.35 + 0.5, 0.01);
    EXPECT_NEAR(delay.never(), 0.0, 1e-5);
    EXPECT_LT(delay.within(500ms), 1e-9) << "a probe is lost only when its timeout is over";
    // Nobody waits longer than the longer gap, and the end of that turn.
    EXPECT_NEAR(delay.within(from_seconds(c.other + 0.4 + 0.5)), 1.0, 1e-4);
  }
}

TEST(PredictDelay, OfShuffledListsIsAThirdOfASweepAndUpToAWholeOne) {
  const PlannedSchedule schedule{.list_length = 16, .counter_phase = false};
  const DelayPrediction delay = predict_delay(schedule, kFullLoss);
  // The mean wait for one of two visits that fall anywhere in a sweep is a third of it.
  EXPECT_NEAR(mean_s(delay), 16.0 / 3.0 + 0.85, 0.2);
  EXPECT_GT(quantile_s(delay, 0.99), 12.0);
}

TEST(PredictDelay, OfLatencyFollowsTheFactor) {
  const PlannedSchedule schedule;
  const auto delay_of = [&](double factor, std::uint32_t pairs) {
    return predict_delay(schedule, {FailureSymptom::kLatency, factor, pairs});
  };
  // From x3 on the first late visit is enough, below it the second, half a sweep later.
  EXPECT_NEAR(mean_s(delay_of(2.0, 2)) - mean_s(delay_of(7.5, 2)), 7.5, 0.05);
  EXPECT_DOUBLE_EQ(mean_s(delay_of(3.0, 2)), mean_s(delay_of(7.5, 2)));
  EXPECT_DOUBLE_EQ(delay_of(1.4, 2).never(), 1.0) << "a pair alone must be half as slow again";
  EXPECT_LT(delay_of(1.4, 30).never(), 1e-4);
  EXPECT_DOUBLE_EQ(delay_of(1.2, 30).never(), 1.0);
  EXPECT_FALSE(delay_of(1.2, 30).quantile(0.5).has_value());
}

TEST(PredictDelay, IsSoonerWithMoreProbesMorePairsAndMoreLoss) {
  for (const double loss : {1.0, 0.3, 0.05, 0.01}) {
    SCOPED_TRACE(loss);
    double last = INFINITY;
    for (const Duration visit : {4000ms, 2000ms, 1000ms, 500ms}) {
      const PlannedSchedule schedule{.visit = visit};
      const double pair = mean_s(predict_delay(schedule, {.size = loss, .pairs = 2}));
      const double rnic = mean_s(predict_delay(schedule, {.size = loss, .pairs = 30}));
      EXPECT_LT(pair, last);
      EXPECT_LT(rnic, pair);
      last = pair;
    }
  }
  const PlannedSchedule schedule;
  double last = 0.0;
  for (const double loss : {0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.003}) {
    const double mean = mean_s(predict_delay(schedule, {.size = loss, .pairs = 30}));
    EXPECT_GT(mean, last) << loss;
    last = mean;
  }
}

TEST(PredictDelay, GrowsByReportsThatAreLate) {
  const PlannedSchedule schedule{.lateness = 2s};
  const PlannedNoise noise{.late_report_share = 0.2, .late_by = 2s, .lost_report_share = 0.05};
  const double calm = mean_s(predict_delay(schedule, kFullLoss));
  const double noisy = mean_s(predict_delay(schedule, kFullLoss, noise));
  EXPECT_GT(noisy, calm + 0.3);
  EXPECT_LT(noisy, calm + 2.0);
}

TEST(PredictDelay, OfThePapersRulesWaitsForFourVisitsAndForWindows) {
  PlannedSchedule schedule{.probes_per_visit = 1, .counter_phase = false};
  schedule.configuration = DetectionConfiguration::kPaper;
  // Four visits of one direction: three sweeps and what the first one takes, and 3 s of patience.
  const double mean = mean_s(predict_delay(schedule, kFullLoss));
  EXPECT_GT(mean, 3 * 15.0);
  EXPECT_LT(mean, 4 * 15.0 + 5.0);
  // One probe a visit, and more than max-idle between two visits: upcalls are all that is measured.
  EXPECT_DOUBLE_EQ(predict_delay(schedule, {FailureSymptom::kLatency, 7.5, 30}).never(), 1.0);
  schedule.probes_per_visit = 10;
  const DelayPrediction windows = predict_delay(schedule, {FailureSymptom::kLatency, 7.5, 30});
  EXPECT_NEAR(mean_s(windows), 45.5, 1e-9);
}

/// The documented rule, one probe after the other: the tests themselves, 3 s of patience, turns.
double simulated_delay_s(test::Dice& dice, double loss, std::uint32_t list) {
  ComponentEvidence tests({});
  const std::uint32_t half = list / 2;
  const std::uint32_t first = dice.below(list);
  const double onset = static_cast<double>(dice.below(1'000'000)) * 1e-6;
  const double phase = static_cast<double>(dice.below(1'000'000)) * 1e-7;
  for (std::uint32_t period = 0;; ++period) {
    const std::uint32_t place = (period + first) % list;
    if (place != 0 && place != half) {
      continue;
    }
    VisitTrial trial{.pair = PairId(0), .both_ways = PairId(0), .probes = 10};
    for (std::uint32_t i = 0; i < 10; ++i) {
      const double sent = period + phase + 0.1 * i;
      const bool lost = static_cast<double>(dice.below(1'000'000)) * 1e-6 < loss;
      trial.lost = static_cast<std::uint8_t>(trial.lost + (sent >= onset && lost ? 1 : 0));
    }
    tests.add(trial, {}, {});
    if (!tests.alarms().empty()) {
      return period + 1.0 + 0.5 + 3.0 - onset;
    }
  }
}

TEST(PredictDelay, AgreesWithTheTestsThemselves) {
  constexpr int kRuns = 4'000;
  for (const double loss : {0.01, 0.05, 0.15}) {
    SCOPED_TRACE(loss);
    test::Dice dice(31, 7);
    std::vector<double> delays_s;
    for (int run = 0; run < kRuns; ++run) {
      delays_s.push_back(simulated_delay_s(dice, loss, 15));
    }
    std::sort(delays_s.begin(), delays_s.end());
    const DelayPrediction delay = predict_delay({}, {.size = loss, .pairs = 2});
    EXPECT_NEAR(quantile_s(delay, 0.5) / delays_s[kRuns / 2], 1.0, 0.05);
    EXPECT_NEAR(quantile_s(delay, 0.95) / delays_s[kRuns * 95 / 100], 1.0, 0.05);
  }
}

// Beyond two thousand turns another path is taken: both must meet.
TEST(PredictDelay, ScalesWithListsWhereVisitsAreRare) {
  const double fine = mean_s(predict_delay({.list_length = 60}, {.size = 0.01, .pairs = 2}));
  const double rare = mean_s(predict_delay({.list_length = 6'000}, {.size = 0.01, .pairs = 2}));
  EXPECT_NEAR(rare / fine, 100.0, 1.0);
}

TEST(DelayPrediction, InterpolatesWithinItsCells) {
  const DelayPrediction delay(1s, 2s, {0.25, 0.0, 0.25});
  EXPECT_DOUBLE_EQ(delay.never(), 0.5);
  EXPECT_DOUBLE_EQ(delay.within(1s), 0.0);
  EXPECT_DOUBLE_EQ(delay.within(2s), 0.125);
  EXPECT_DOUBLE_EQ(delay.within(4s), 0.25);
  EXPECT_DOUBLE_EQ(delay.within(10s), 0.5);
  EXPECT_EQ(delay.quantile(0.125), 2s);
  EXPECT_EQ(delay.quantile(0.375), 6s);
  EXPECT_FALSE(delay.quantile(0.6).has_value());
  EXPECT_EQ(delay.mean(), 4s);
}

TEST(LateVisits, AreSeenFromAFewSpreadsOn) {
  const PlannedSchedule schedule;
  EXPECT_GT(late_visit_probability(schedule, {}, 1.5), 0.999);
  EXPECT_LT(late_visit_probability(schedule, {}, 1.06), 0.01);
  EXPECT_LT(late_visit_probability(schedule, {.latency_sigma = 0.4}, 1.5), 0.01);
}

}  // namespace
}  // namespace bonescan
