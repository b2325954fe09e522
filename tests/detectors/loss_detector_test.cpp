// Loss behind the Detector interface.
#include "detectors/loss/loss_detector.h"

#include "detectors/telemetry/probe.h"
#include "tests/support/dice.h"
#include "tests/support/fake_telemetry.h"

namespace bonescan {
namespace {

using fakes::at_ms;
using fakes::at_s;
using testing::SizeIs;

constexpr std::uint32_t kPairs = 12;

/// Pairs in sixes over two links.
struct Visits {
  std::vector<TracedPath> paths;
  std::vector<std::vector<std::uint32_t>> rtts;
  std::vector<ObservedVisit> all;

  Visits() {
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      paths.push_back({.request = {{ComponentId(pair / 6), LinkDirection::kUp},
                                   {ComponentId(10 + pair), LinkDirection::kDown}},
                       .answer = {}});
    }
  }

  void add(std::uint32_t pair, Time start, std::vector<std::uint32_t> rtts_ns) {
    rtts.push_back(std::move(rtts_ns));
    all.push_back({.pair = PairId(pair), .start = start, .rtts_ns = {}, .path = &paths[pair]});
  }

  std::span<const ObservedVisit> get() {
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].rtts_ns = rtts[i];
    }
    return all;
  }
};

std::vector<std::uint32_t> probes(std::uint32_t lost) {
  std::vector<std::uint32_t> rtts(10, 16'000);
  std::fill_n(rtts.begin(), lost, kLostRtt);
  return rtts;
}

std::vector<Verdict> verdicts_of(LossDetector& detector, Time now) {
  std::vector<Verdict> verdicts;
  detector.evaluate(now, verdicts);
  return verdicts;
}

std::vector<std::tuple<std::uint32_t, VerdictRule, float>> keys(const std::vector<Verdict>& all) {
  std::vector<std::tuple<std::uint32_t, VerdictRule, float>> found;
  for (const Verdict& verdict : all) {
    found.emplace_back(verdict.pair.index(), verdict.rule, verdict.score);
  }
  return found;
}

TEST(LossDetector, CallsAPairUnreachableAfterOneSilentVisit) {
  LossDetector detector;
  detector.resize(kPairs);
  Visits visits;
  visits.add(3, at_s(1), probes(10));
  visits.add(4, at_s(1), probes(0));
  detector.observe(at_ms(2500), visits.get());
  const std::vector<Verdict> verdicts = verdicts_of(detector, at_ms(2500));
  ASSERT_THAT(verdicts, SizeIs(1));
  EXPECT_EQ(verdicts[0].pair, PairId(3));
  EXPECT_EQ(verdicts[0].kind, VerdictKind::kUnreachable);
  EXPECT_EQ(verdicts[0].rule, VerdictRule::kConsecutiveLoss);
  EXPECT_THAT(verdicts_of(detector, at_ms(2600)), SizeIs(0));
}

// Three at the end of one visit and one at the beginning of the next are four in a row.
TEST(LossDetector, CountsLossesInARowAcrossVisits) {
  LossDetector detector;
  detector.resize(kPairs);
  Visits first;
  std::vector<std::uint32_t> ends_lossy(10, 16'000);
  std::fill(ends_lossy.end() - 3, ends_lossy.end(), kLostRtt);
  first.add(0, at_s(1), ends_lossy);
  detector.observe(at_s(2), first.get());
  EXPECT_THAT(verdicts_of(detector, at_s(2)), SizeIs(0));
  Visits second;
  second.add(0, at_s(3), {kLostRtt});
  detector.observe(at_s(4), second.get());
  EXPECT_THAT(verdicts_of(detector, at_s(4)), SizeIs(1));
}

TEST(LossDetector, NamesThePairsThatMadeALinkSuspect) {
  LossDetector detector;
  detector.resize(kPairs);
  Visits visits;
  for (const std::uint32_t pair : {0u, 2u, 4u}) {
    visits.add(pair, at_ms(1000 + 100 * pair), probes(1));
  }
  visits.add(7, at_s(1), probes(1));  // On the other link.
  detector.observe(at_ms(2500), visits.get());
  const std::vector<Verdict> verdicts = verdicts_of(detector, at_ms(2500));
  ASSERT_THAT(verdicts, SizeIs(3));
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(verdicts[i].pair, PairId(2 * i));
    EXPECT_EQ(verdicts[i].rule, VerdictRule::kPooledLoss);
    EXPECT_GT(verdicts[i].score, 20.0F);
    EXPECT_LT(verdicts[i].log_p, -20.0F);
  }
  ASSERT_THAT(detector.alarms(), SizeIs(1));
  EXPECT_EQ(detector.alarms().front().index, 0u);
}

TEST(LossDetector, SaysNothingAboutVisitsWithoutAProbe) {
  LossDetector detector;
  detector.resize(kPairs);
  for (int visit = 0; visit < 20; ++visit) {
    Visits visits;
    visits.add(0, at_s(visit), std::vector<std::uint32_t>(10, kLocalErrorRtt));
    visits.add(1, at_s(visit), {});
    detector.observe(at_s(visit + 1), visits.get());
    EXPECT_THAT(verdicts_of(detector, at_s(visit + 1)), SizeIs(0));
  }
}

TEST(LossDetector, DoesNotCareHowTheVisitsOfATurnAreHandedOver) {
  for (const std::uint64_t seed : {1u, 3u, 5u}) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    test::Dice dice(seed, 9);
    LossDetector whole;
    LossDetector backwards;
    LossDetector single;
    std::vector<Verdict> from_whole;
    std::vector<Verdict> from_backwards;
    std::vector<Verdict> from_single;
    for (int turn = 1; turn < 60; ++turn) {
      Visits visits;
      for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
        const bool lossy = dice.below(pair < 6 ? 6 : 60) == 0;
        visits.add(pair, at_ms(turn * 1000 + dice.below(10)), probes(lossy ? dice.below(11) : 0));
      }
      const std::span<const ObservedVisit> all = visits.get();
      whole.observe(at_s(turn + 1), all);
      const std::vector<ObservedVisit> reversed(all.rbegin(), all.rend());
      backwards.observe(at_s(turn + 1), reversed);
      for (std::size_t i = 0; i < all.size(); ++i) {
        single.observe(at_s(turn + 1), all.subspan(i, 1));
      }
      whole.evaluate(at_s(turn + 1), from_whole);
      backwards.evaluate(at_s(turn + 1), from_backwards);
      single.evaluate(at_s(turn + 1), from_single);
    }
    EXPECT_FALSE(from_whole.empty());
    EXPECT_EQ(keys(from_whole), keys(from_backwards));
    EXPECT_EQ(keys(from_whole), keys(from_single));
  }
}

}  // namespace
}  // namespace bonescan
