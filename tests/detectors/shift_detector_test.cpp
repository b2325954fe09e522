// A visit against its pair's own visits: what is found at once, and what must stay quiet.
#include "detectors/shortterm/shift_detector.h"

#include "tests/support/noisy_fleet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kPairs = 200;
constexpr PairId kVictim(17);

/// 1e-7 per evaluation unless a test says otherwise.
class Watch {
 public:
  explicit Watch(std::size_t pairs = kPairs, ShiftOptions options = {.probability = 1e-7})
      : fleet(pairs, 2), detector(options) {
    detector.resize(pairs);
  }

  const std::vector<Verdict>& turn() {
    detector.observe(fleet.now(), fleet.next_visits());
    verdicts.clear();
    detector.evaluate(fleet.now(), verdicts);
    return verdicts;
  }

  void turns(int count) {
    for (int i = 0; i < count; ++i) {
      alarms += turn().size();
    }
  }

  bool late(PairId pair) const {
    return std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) {
      return verdict.pair == pair && verdict.kind == VerdictKind::kAnomalous;
    });
  }

  NoisyFleet::PairNoise& victim() { return fleet.noise[kVictim.index()]; }

  NoisyFleet fleet;
  ShiftDetector detector;
  std::vector<Verdict> verdicts;
  std::size_t alarms = 0;
};

TEST(ShiftDetector, TellsOfAVisitThatIsLateInPart) {
  Watch watch;
  watch.turns(120);
  std::vector<std::uint32_t> rtts(10, 16'000);
  std::fill(rtts.begin() + 4, rtts.begin() + 7, 120'000);
  const ObservedVisit visit{.pair = kVictim, .start = watch.fleet.now(), .rtts_ns = rtts};
  watch.detector.observe(watch.fleet.now(), {&visit, 1});
  watch.verdicts.clear();
  watch.detector.evaluate(watch.fleet.now(), watch.verdicts);
  EXPECT_FALSE(watch.late(kVictim)) << "seven of ten probes were not";
  ASSERT_EQ(watch.detector.judged().size(), 1U);
  const JudgedVisit& judged = watch.detector.judged().front();
  EXPECT_EQ(judged.kind, VerdictKind::kHealthy);
  // Rank 6.75 of ten: a quarter of the way lies below, and the history's quartile is near its base.
  EXPECT_GT(judged.upper_factor, 3.0F);
  EXPECT_LT(judged.upper_factor, 7.5F);
  watch.turns(1);
  for (const JudgedVisit& other : watch.detector.judged()) {
    EXPECT_EQ(other.upper_factor, 1.0F) << "below kLeastUpper nothing is told";
  }
}

TEST(ShiftDetector, JudgesNobodyBeforeItKnowsWhatIsNormal) {
  Watch watch;
  watch.victim().factor = 1.0;
  watch.turns(20);
  watch.victim().factor = 7.5;
  EXPECT_TRUE(watch.turn().empty());
  for (const JudgedVisit& visit : watch.detector.judged()) {
    EXPECT_EQ(visit.kind, VerdictKind::kInsufficientData);
  }
}

TEST(ShiftDetector, FindsAStepInItsFirstCompleteVisit) {
  for (const double factor : {7.5, 2.0}) {
    SCOPED_TRACE(factor);
    Watch watch;
    watch.turns(100);
    EXPECT_EQ(watch.alarms, 0U);
    watch.victim().factor = factor;
    const auto& verdicts = watch.turn();
    ASSERT_EQ(verdicts.size(), 1U);
    EXPECT_EQ(verdicts[0].pair, kVictim);
    EXPECT_EQ(verdicts[0].rule, VerdictRule::kShift);
    EXPECT_EQ(verdicts[0].kind, VerdictKind::kAnomalous);
    EXPECT_NEAR(verdicts[0].factor, factor, 0.1 * factor);
    EXPECT_LT(verdicts[0].log_p, std::log(1e-7));
    EXPECT_GE(verdicts[0].log_p, kLeastLogP);
  }
}

TEST(ShiftDetector, FindsSmallStepsWithinAFewVisits) {
  struct Case {
    double factor;
    int visits_most;
  };

  for (const Case& c : {Case{1.5, 2}, Case{1.25, 5}, Case{1.15, 9}}) {
    SCOPED_TRACE(c.factor);
    Watch watch;
    watch.turns(100);
    watch.victim().factor = c.factor;
    int visits = 0;
    while (!watch.late(kVictim) && visits < 50) {
      watch.turn();
      ++visits;
    }
    EXPECT_LE(visits, c.visits_most);
  }
}

// Bursts of 4 s in a network that never had any: the median grows by 1.6, the minimum by 1.1.
TEST(ShiftDetector, CongestionLeavesTheMinimumAndIsRarelyLate) {
  Watch watch;
  watch.turns(100);
  for (std::size_t burst = 0; burst < 10; ++burst) {
    for (std::size_t p = burst; p < kPairs; p += 10) {
      watch.fleet.noise[p].queue_ns = 15'000.0;
    }
    watch.turns(4);
    for (auto& noise : watch.fleet.noise) {
      noise.queue_ns = 0.0;
    }
    watch.turns(10);
  }
  EXPECT_LE(watch.alarms, 20U) << "of 800 visits during a burst";
  watch.victim().factor = 7.5;
  watch.turn();
  EXPECT_TRUE(watch.late(kVictim)) << "bursts do not make blind";
}

TEST(ShiftDetector, SpikesDoNotHideAStep) {
  Watch watch;
  for (auto& noise : watch.fleet.noise) {
    noise.spikes = 0.01;
  }
  watch.turns(100);
  EXPECT_EQ(watch.alarms, 0U);
  watch.victim().factor = 2.0;
  watch.turn();
  EXPECT_TRUE(watch.late(kVictim));
}

// Half of the pairs are five times as noisy, and their class does not say so.
TEST(ShiftDetector, JudgesAPairByItsOwnSpread) {
  Watch watch;
  for (std::size_t p = 0; p < kPairs; p += 2) {
    watch.fleet.noise[p].spread = 0.4;
  }
  watch.turns(200);
  EXPECT_LE(watch.alarms, 1U);
  watch.victim().factor = 2.0;
  ASSERT_LT(watch.victim().spread, 0.1);
  watch.turn();
  EXPECT_TRUE(watch.late(kVictim));
}

TEST(ShiftDetector, ALatePairStaysLateAndLearnsNothing) {
  Watch watch;
  watch.turns(100);
  watch.victim().factor = 3.0;
  for (int visit = 0; visit < 300; ++visit) {
    watch.turn();
    ASSERT_TRUE(watch.late(kVictim)) << visit;
  }
  watch.victim().factor = 1.0;
  watch.turns(3);
  EXPECT_FALSE(watch.late(kVictim));
  watch.victim().factor = 3.0;
  watch.turn();
  EXPECT_TRUE(watch.late(kVictim)) << "it remembers its level from before the fault";
}

TEST(ShiftDetector, StartsAnewAfterALongFreeze) {
  Watch watch(kPairs, {.probability = 1e-7, .freeze = std::chrono::seconds(30)});
  watch.turns(100);
  watch.victim().factor = 3.0;
  watch.turns(29);
  EXPECT_TRUE(watch.late(kVictim));
  watch.turns(10);
  EXPECT_FALSE(watch.late(kVictim));
  watch.victim().factor = 9.0;
  watch.turn();
  EXPECT_TRUE(watch.late(kVictim)) << "judged at its new level";
}

TEST(ShiftDetector, HearsNothingFromVisitsWithoutAnswers) {
  Watch watch;
  watch.turns(100);
  watch.victim().lost = 10;
  watch.victim().factor = 7.5;
  watch.turn();
  EXPECT_FALSE(watch.late(kVictim));
  EXPECT_EQ(watch.detector.judged().size(), kPairs - 1) << "missing is not healthy";
  watch.victim().lost = 6;
  watch.turn();
  EXPECT_FALSE(watch.late(kVictim)) << "four of ten answers are no sample of the path";
  watch.victim().lost = 3;
  watch.turn();
  EXPECT_TRUE(watch.late(kVictim));
}

TEST(ShiftDetector, LeavesOutTheFirstProbeOfAColdVisit) {
  Watch watch;
  watch.turns(100);
  std::vector<std::uint32_t> rtts(10, 16'000);
  rtts[0] = 4'000'000'000;
  const ObservedVisit visit{
      .pair = kVictim, .start = watch.fleet.now(), .cold = true, .rtts_ns = rtts};
  watch.detector.observe(watch.fleet.now(), std::span(&visit, 1));
  watch.detector.evaluate(watch.fleet.now(), watch.verdicts);
  ASSERT_EQ(watch.detector.judged().size(), 1U);
  EXPECT_EQ(watch.detector.judged()[0].kind, VerdictKind::kHealthy);
}

// Pairs that switch between two levels now and then: a switch is no failure for ever.
TEST(ShiftDetector, APairThatWasThereBeforeIsNotLate) {
  Watch watch;
  watch.turns(60);
  std::size_t early = 0;
  for (int round = 0; round < 60; ++round) {
    for (std::size_t p = 0; p < kPairs; ++p) {
      watch.fleet.noise[p].factor = (static_cast<std::size_t>(round) + p) % 4 == 0 ? 1.3 : 1.0;
    }
    watch.turns(2);
    early = round == 29 ? watch.alarms : early;
  }
  EXPECT_LE(watch.alarms - early, early / 4 + 2);
}

TEST(ShiftDetector, OrderAndSplittingOfATurnDoNotMatter) {
  Watch forward;
  Watch backward;
  for (int turn = 0; turn < 130; ++turn) {
    const double factor = turn > 100 ? 1.2 : 1.0;
    forward.victim().factor = factor;
    backward.victim().factor = factor;
    forward.turn();
    const auto visits = backward.fleet.next_visits();
    std::vector<ObservedVisit> reversed(visits.rbegin(), visits.rend());
    const auto half = std::span(reversed).first(kPairs / 2);
    backward.detector.observe(backward.fleet.now(), half);
    backward.detector.observe(backward.fleet.now(), std::span(reversed).subspan(kPairs / 2));
    backward.verdicts.clear();
    backward.detector.evaluate(backward.fleet.now(), backward.verdicts);
    ASSERT_EQ(forward.verdicts.size(), backward.verdicts.size());
    for (std::size_t i = 0; i < forward.verdicts.size(); ++i) {
      ASSERT_EQ(forward.verdicts[i].pair, backward.verdicts[i].pair);
      ASSERT_EQ(forward.verdicts[i].score, backward.verdicts[i].score);
      ASSERT_EQ(forward.verdicts[i].log_p, backward.verdicts[i].log_p);
    }
  }
}

TEST(ShiftDetector, TwoVisitsOfAPairInOneTurnGiveOneVerdict) {
  Watch watch;
  watch.turns(100);
  std::vector<std::uint32_t> slow(10, 120'000);
  std::vector<std::uint32_t> slower(10, 160'000);
  const Time now = watch.fleet.now();
  const std::vector<ObservedVisit> visits = {
      {.pair = kVictim, .start = now + std::chrono::milliseconds(5), .rtts_ns = slower},
      {.pair = kVictim, .start = now, .rtts_ns = slow}};
  watch.detector.observe(now, visits);
  watch.verdicts.clear();
  watch.detector.evaluate(now, watch.verdicts);
  ASSERT_EQ(watch.verdicts.size(), 1U);
  EXPECT_NEAR(watch.verdicts[0].factor, 10.0, 0.5);
  EXPECT_EQ(watch.detector.judged().size(), 2U);
}

// The direct check of the null: fitted on one seed, counted on another. 30 alarms are expected.
TEST(ShiftDetector, AlarmsAsOftenAsItsBudgetSays) {
  const ShiftOptions options{.probability = 1e-4, .blip_visits = 255, .null = {}};
  Watch fitted(500, options);
  fitted.turns(600);
  Watch checked(500, options);
  checked.fleet = NoisyFleet(500, 4);
  checked.detector.hold_nulls(fitted.detector.visit_null(), fitted.detector.run_null());
  checked.turns(25);
  std::size_t before = checked.alarms;
  checked.turns(600);
  const std::size_t alarms = checked.alarms - before;
  EXPECT_GE(alarms, 8U);
  EXPECT_LE(alarms, 60U);
}

// A bug: pairs of a class with few pairs were not judged for hours.
TEST(ShiftDetector, ASmallClassBorrowsAThreshold) {
  Watch watch;
  watch.detector.set_class(kVictim, 9);
  for (std::uint32_t p = 0; p < 10; ++p) {
    watch.detector.set_class(PairId(p), 9);
  }
  watch.turns(100);
  EXPECT_EQ(watch.alarms, 0U);
  EXPECT_FALSE(watch.detector.visit_null().trusted(9));
  watch.victim().factor = 7.5;
  watch.turn();
  ASSERT_TRUE(watch.late(kVictim));
  EXPECT_LT(watch.verdicts.front().log_p, std::log(1e-7));
}

TEST(ShiftDetector, SpendsItsBudgetPerDay) {
  Watch watch(kPairs, {.false_alarms_per_day = 1.728});
  watch.turns(200);
  // 200 pairs a second are 17.28 million evaluations a day; the first turns judged nobody.
  EXPECT_NEAR(watch.detector.probability(), 1e-7, 0.1e-7);
}

TEST(ShiftDetector, ForgetsPairsThatAreReleased) {
  Watch watch(64 * 3);
  watch.turns(40);
  const std::size_t held = watch.detector.held_size();
  EXPECT_EQ(held, 192U * (128U + 48U)) << "bytes a pair are documented";
  watch.detector.release({PairId(64), 64});
  EXPECT_EQ(watch.detector.held_size(), held / 3 * 2);
}

}  // namespace
}  // namespace bonescan
