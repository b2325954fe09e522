#include "detectors/longterm/long_term_z.h"
#include "detectors/longterm/normal_tail.h"
#include "detectors/telemetry/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr Duration kPeriod = std::chrono::minutes(30);
constexpr int kVisits = 40;

/// Visits of two probes, e^spread above and below the level: in ln, mean ln(level), sd known.
class Feed {
 public:
  explicit Feed(const LongTermZOptions& options = {}) : detector(options) { detector.resize(2); }

  void period(double level_us, double spread = 0.02, bool backwards = false) {
    std::vector<std::vector<std::uint32_t>> rtts;
    std::vector<ObservedVisit> visits;
    for (int v = 0; v < kVisits; ++v) {
      rtts.push_back({static_cast<std::uint32_t>(std::lround(level_us * 1e3 * std::exp(spread))),
                      static_cast<std::uint32_t>(std::lround(level_us * 1e3 * std::exp(-spread)))});
    }
    for (int v = 0; v < kVisits; ++v) {
      ObservedVisit visit;
      visit.pair = PairId(0);
      visit.start = now + v * (kPeriod / kVisits);
      visit.rtts_ns = rtts[static_cast<std::size_t>(v)];
      visits.push_back(visit);
    }
    if (backwards) {
      std::reverse(visits.begin(), visits.end());
    }
    now += kPeriod;
    detector.observe(now, visits);
    close();
  }

  void silence() {
    now += kPeriod;
    close();
  }

  LongTermZ detector;
  Time now = kStartOfRun;
  std::vector<Verdict> verdicts;  ///< of the last period

 private:
  void close() {
    verdicts.clear();
    detector.evaluate(now + std::chrono::seconds(20), verdicts);
  }
};

TEST(LongTermZ, ChecksEachFitAtItsLags) {
  Feed feed;
  feed.period(16.0);
  EXPECT_THAT(feed.verdicts, IsEmpty());
  feed.period(16.8);
  ASSERT_THAT(feed.verdicts, SizeIs(1));
  const Verdict& verdict = feed.verdicts.front();
  EXPECT_EQ(verdict.rule, VerdictRule::kLongTermZ);
  EXPECT_EQ(verdict.kind, VerdictKind::kAnomalous);
  EXPECT_NEAR(verdict.factor, 1.05, 1e-4);
  // 80 probes, sd 0.02 sqrt(80 / 79).
  const double z = std::log(1.05) / (0.02 * std::sqrt(80.0 / 79.0) / std::sqrt(80.0));
  EXPECT_NEAR(verdict.score, z, 0.02);
  EXPECT_NEAR(verdict.log_p, normal_log_sf(z), 0.5);
  // The step is seen from the periods before it until the longest lag has passed it.
  for (int later = 1; later < 4; ++later) {
    feed.period(16.8);
    EXPECT_THAT(feed.verdicts, SizeIs(later == 1 || later == 3 ? 1 : 0)) << later;
  }
  feed.period(16.8);
  EXPECT_THAT(feed.verdicts, IsEmpty());
}

// 10 % a day is 0.8 % in two hours.
TEST(LongTermZ, CannotSeeWhatIsSmallOverItsLongestLag) {
  Feed feed;
  double level = 16.0;
  for (int period = 0; period < 96; ++period) {
    feed.period(level, 0.08);
    EXPECT_THAT(feed.verdicts, IsEmpty()) << period;
    level *= std::pow(1.1, 1.0 / 48.0);
  }
}

TEST(LongTermZ, OnlyIncreasesCount) {
  Feed feed;
  feed.period(16.0);
  feed.period(12.0);
  EXPECT_THAT(feed.verdicts, IsEmpty());
}

TEST(LongTermZ, TheOtherFormKnowsTheErrorOfItsBaseline) {
  Feed feed({.form = ZForm::kWithBaselineError, .log_p = std::log(1e-3), .least_factor = 1.02});
  feed.period(16.0);
  feed.period(16.2);
  EXPECT_THAT(feed.verdicts, IsEmpty());  // 1.2 % is below the effect that counts
  feed.period(17.0);
  ASSERT_THAT(feed.verdicts, SizeIs(1));
}

TEST(LongTermZ, MissingIsUnknown) {
  Feed feed;
  feed.period(16.0);
  feed.silence();
  EXPECT_THAT(feed.verdicts, IsEmpty());
  feed.silence();
  feed.silence();
  feed.period(18.0);  // two hours after the only fit: the longest lag
  EXPECT_THAT(feed.verdicts, SizeIs(1));
  Feed late;
  late.period(16.0);
  for (int i = 0; i < 10; ++i) {
    late.silence();
  }
  late.period(18.0);
  EXPECT_THAT(late.verdicts, IsEmpty());
}

TEST(LongTermZ, TheOrderOfVisitsDoesNotMatter) {
  Feed forwards;
  Feed backwards;
  for (const double level : {16.0, 16.7}) {
    forwards.period(level, 0.03);
    backwards.period(level, 0.03, true);
  }
  ASSERT_THAT(forwards.verdicts, SizeIs(1));
  ASSERT_THAT(backwards.verdicts, SizeIs(1));
  EXPECT_EQ(forwards.verdicts.front().log_p, backwards.verdicts.front().log_p);
  EXPECT_EQ(forwards.verdicts.front().score, backwards.verdicts.front().score);
}

}  // namespace
}  // namespace bonescan
