// Levels of a few pairs over days: what is a drift, and what only looks like one.
#include "detectors/longterm/drift_detector.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <malloc.h>
#include <set>
#include <vector>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int kDay = 48;  // periods
constexpr std::uint32_t kPairs = 12;

/// Twelve pairs of one class, sixteen microseconds, 1.5 % of persistent noise.
class Days {
 public:
  explicit Days(const LevelDriftOptions& options = {}, std::uint32_t pairs = kPairs)
      : detector(options), pairs_(pairs), noise_(pairs) {
    detector.resize(pairs);
  }

  /// ln of what is added to the noise of a pair at that period; NaN is no visit.
  using Shape = std::function<double(std::uint32_t pair, int period)>;

  void run(int periods, const Shape& shape) {
    for (int i = 0; i < periods; ++i, ++period) {
      for (std::uint32_t pair = 0; pair < pairs_; ++pair) {
        const RngStream stream(7, Purpose::kTest, pair);
        const double draw = normal_quantile(stream.open01_at(static_cast<std::uint64_t>(period)));
        noise_[pair] = 0.7 * noise_[pair] + 0.0107 * draw;
        const double added = shape(pair, period);
        if (std::isnan(added)) {
          continue;
        }
        for (int visit = 0; visit < 12; ++visit) {
          const Time at =
              kStartOfRun + period * std::chrono::minutes(30) + visit * std::chrono::minutes(2);
          detector.add_level(PairId(pair), at, 16.0 * std::exp(noise_[pair] + added));
        }
      }
      fresh.clear();
      detector.evaluate(
          kStartOfRun + (period + 1) * std::chrono::minutes(30) + std::chrono::seconds(10), fresh);
      for (const Verdict& verdict : fresh) {
        found.insert(verdict.pair.index());
        first = first == 0 ? period : first;
      }
    }
  }

  DriftDetector detector;
  int period = 0;
  int first = 0;                  ///< period of the first verdict
  std::set<std::uint32_t> found;  ///< pairs that were ever accused
  std::vector<Verdict> fresh;     ///< of the last period

 private:
  std::uint32_t pairs_;
  std::vector<double> noise_;
};

double nothing(std::uint32_t, int) {
  return 0.0;
}

/// ln of a growth by 10 % of the first value a day.
double drift(int periods) {
  return std::log1p(0.1 * periods / kDay);
}

double load_of_the_day(int period) {
  return 0.2 * std::sin(6.283185307 * period / kDay);
}

TEST(DriftDetector, FindsOnePairThatGainsTenPercentADay) {
  Days days;
  days.run(kDay, nothing);
  days.run(2 * kDay, [](std::uint32_t pair, int period) {
    return pair == 3 ? drift(period - kDay + 1) : 0.0;
  });
  EXPECT_THAT(days.found, ElementsAre(3));
  EXPECT_LE(days.first, kDay + 50);    // 25 h; the median over many is in the contest
  ASSERT_THAT(days.fresh, SizeIs(1));  // as long as it lasts
  EXPECT_EQ(days.fresh.front().rule, VerdictRule::kDrift);
  EXPECT_NEAR(days.fresh.front().factor, 1.2, 0.05);
  EXPECT_LE(days.fresh.front().log_p, days.detector.log_p_budget());
  EXPECT_TRUE(days.detector.drifting(PairId(3)));
  EXPECT_FALSE(days.detector.with_its_class(PairId(3)));
}

TEST(DriftDetector, FindsStepsAndRampsWithinHours) {
  struct Case {
    const char* name;
    double factor;
    int ramp_periods;
    int within;
  };
  for (const Case& c : {Case{"x7.5", 7.5, 0, 1},
                        Case{"x7.5 over an hour", 7.5, 2, 1},
                        Case{"x1.25", 1.25, 0, 6},
                        Case{"x1.1", 1.1, 0, 24}}) {
    SCOPED_TRACE(c.name);
    Days days;
    days.run(kDay, nothing);
    days.run(kDay, [&](std::uint32_t pair, int period) {
      const int since = period - kDay + 1;
      const double part = since < c.ramp_periods ? (since - 0.5) / c.ramp_periods : 1.0;
      return pair == 5 ? std::log1p((c.factor - 1.0) * part) : 0.0;
    });
    EXPECT_THAT(days.found, ElementsAre(5));
    EXPECT_LT(days.first - kDay, c.within);
  }
}

TEST(DriftDetector, TheLoadOfTheDayIsNoDrift) {
  Days days;
  days.run(4 * kDay, [](std::uint32_t, int period) { return load_of_the_day(period); });
  EXPECT_THAT(days.found, IsEmpty());
}

TEST(DriftDetector, FindsAPairInTheLoadOfTheDay) {
  Days days;
  days.run(3 * kDay, [](std::uint32_t pair, int period) {
    return load_of_the_day(period) + (pair == 3 && period >= kDay ? std::log(1.25) : 0.0);
  });
  EXPECT_THAT(days.found, ElementsAre(3));
}

// The median goes with the class, so only its own series can tell, and that needs to know the day.
TEST(DriftDetector, ReportsAClassThatDriftsAsAWholeOnceItKnowsTheDay) {
  Days days;
  days.run(2 * kDay, [](std::uint32_t, int period) { return 0.3 * load_of_the_day(period); });
  EXPECT_THAT(days.found, IsEmpty());
  days.run(kDay, [](std::uint32_t, int period) {
    return 0.3 * load_of_the_day(period) + std::log(1.25);
  });
  EXPECT_THAT(days.found, SizeIs(kPairs));
  EXPECT_LE(days.first - 2 * kDay, 24);
  EXPECT_TRUE(days.detector.with_its_class(PairId(0)));
  // Back to normal.
  days.run(2, [](std::uint32_t, int period) { return 0.3 * load_of_the_day(period); });
  EXPECT_THAT(days.fresh, IsEmpty());
  EXPECT_FALSE(days.detector.drifting(PairId(0)));
}

TEST(DriftDetector, TellsThoseThatAreAtFaultWhereMostOfAClassIs) {
  Days days;
  days.run(2 * kDay, nothing);
  days.run(kDay, [](std::uint32_t pair, int) { return pair < 9 ? std::log(1.25) : 0.0; });
  EXPECT_THAT(days.found, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(DriftDetector, MissingIsUnknown) {
  const double kNone = std::nan("");
  Days days;
  days.run(kDay, nothing);
  // One pair is not visited while it changes, another is never visited enough to have a reference.
  days.run(kDay, [&](std::uint32_t pair, int) { return pair == 2 ? kNone : 0.0; });
  EXPECT_THAT(days.found, IsEmpty());
  days.run(12, [](std::uint32_t pair, int) { return pair == 2 ? 0.5 : 0.0; });
  EXPECT_THAT(days.found, ElementsAre(2));
  Days young;
  young.run(kDay, [&](std::uint32_t pair, int period) {
    return pair == 2 && period < 40 ? kNone : (pair == 2 && period > 44 ? 0.5 : 0.0);
  });
  EXPECT_THAT(young.found, IsEmpty());
}

// One pair alone has nothing to be compared with but its own day.
TEST(DriftDetector, WaitsForAWholeDayWhereThereIsNoClass) {
  Days days({}, 1);
  days.run(3 * kDay, [](std::uint32_t, int period) {
    return period >= 2 * kDay ? std::log(1.5) : 0.25 * load_of_the_day(period);
  });
  EXPECT_THAT(days.found, ElementsAre(0));
  EXPECT_GE(days.first, 2 * kDay);
}

TEST(DriftDetector, ABurstInOnePeriodIsNoDrift) {
  Days days;
  days.run(kDay, nothing);
  // A quarter of one period's visits are ten times as slow: the mean is 78 % up.
  for (int visit = 0; visit < 12; ++visit) {
    days.detector.add_level(
        PairId(4), kStartOfRun + kDay * std::chrono::minutes(30), visit < 4 ? 160.0 : 16.0);
  }
  days.run(kDay, nothing);
  EXPECT_THAT(days.found, IsEmpty());
}

TEST(DriftDetector, StartsAnewAfterADayAndSilentlyWhereItBecameFaster) {
  Days days({.relearn_after = std::chrono::hours(24)});
  days.run(kDay, nothing);
  days.run(2 * kDay,
           [](std::uint32_t pair, int) { return pair == 1 ? 0.3 : (pair == 2 ? -0.3 : 0.0); });
  EXPECT_THAT(days.found, ElementsAre(1));
  EXPECT_THAT(days.fresh, IsEmpty());
  days.found.clear();
  // From the level at which it is now it is measured again: half of the way back is a rise.
  days.run(kDay,
           [](std::uint32_t pair, int) { return pair == 1 ? 0.3 : (pair == 2 ? -0.15 : 0.0); });
  EXPECT_THAT(days.found, ElementsAre(2));
}

TEST(DriftDetector, StandsStillWhileItsLevelIsHigh) {
  Days days;
  days.run(kDay, nothing);
  EXPECT_FALSE(days.detector.still_high(PairId(6), 100.0));  // does not drift
  days.run(12, [](std::uint32_t pair, int) { return pair == 6 ? 0.4 : 0.0; });
  EXPECT_TRUE(days.detector.still_high(PairId(6), 16.0 * std::exp(0.4)));
  EXPECT_FALSE(days.detector.still_high(PairId(6), 16.0));
}

TEST(DriftDetector, TakesTheMedianOfAVisitWithoutAColdFirstProbe) {
  DriftDetector whole{LevelDriftOptions{}};
  DriftDetector parts{LevelDriftOptions{}};
  whole.resize(6);
  parts.resize(6);
  std::vector<Verdict> of_whole;
  std::vector<Verdict> of_parts;
  const std::array<std::uint32_t, 4> slow{kLostRtt, 33'000, 34'000, 33'000};
  const std::array<std::uint32_t, 4> usual{900'000, 16'000, 16'100, 15'900};
  for (int turn = 0; turn < 30 * 60; ++turn) {
    const Time at = kStartOfRun + turn * std::chrono::minutes(1);
    std::vector<ObservedVisit> visits;
    for (std::uint32_t pair = 0; pair < 6; ++pair) {
      ObservedVisit visit;
      visit.pair = PairId(pair);
      visit.start = at;
      visit.cold = true;
      visit.rtts_ns = turn > 26 * 60 && pair == 0 ? slow : usual;
      visits.push_back(visit);
    }
    const Time now = at + std::chrono::seconds(1);
    whole.observe(now, visits);
    std::reverse(visits.begin(), visits.end());
    for (const ObservedVisit& visit : visits) {
      parts.observe(now, {&visit, 1});
    }
    whole.evaluate(now, of_whole);
    parts.evaluate(now, of_parts);
  }
  ASSERT_FALSE(of_whole.empty());
  ASSERT_EQ(of_whole.size(), of_parts.size());
  for (std::size_t i = 0; i < of_whole.size(); ++i) {
    EXPECT_EQ(of_whole[i].pair, PairId(0));
    EXPECT_EQ(of_whole[i].log_p, of_parts[i].log_p);
    EXPECT_EQ(of_whole[i].factor, of_parts[i].factor);
  }
}

TEST(DriftDetector, HoldsLittleAndAllocatesNothingOnceItRuns) {
  Days days({}, 640);
  EXPECT_LE(days.detector.held_size() / 640, 104u);
  days.run(kDay, nothing);
  const auto in_use = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const auto before = in_use();
  days.run(kDay, nothing);
  EXPECT_EQ(in_use(), before);
  days.detector.release({PairId(0), 640});
  EXPECT_EQ(days.detector.held_size(), 0u);
}

}  // namespace
}  // namespace bonescan
