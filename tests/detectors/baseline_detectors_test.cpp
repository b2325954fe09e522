#include "detectors/baselines/counter_rules.h"
#include "detectors/baselines/loss_crossings.h"
#include "detectors/baselines/mesh_vote_detector.h"
#include "detectors/baselines/pair_tallies.h"
#include "detectors/baselines/pingmesh_detector.h"
#include "detectors/baselines/r_pingmesh_detector.h"
#include "detectors/baselines/three_path_test.h"
#include "detectors/telemetry/probe.h"

#include <gtest/gtest.h>

#include <vector>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

std::vector<std::uint32_t> probes(std::uint32_t answered_count,
                                  std::uint32_t rtt_ns,
                                  std::uint32_t lost_count) {
  std::vector<std::uint32_t> rtts(answered_count, rtt_ns);
  rtts.resize(answered_count + lost_count, kLostRtt);
  return rtts;
}

/// All ordered pairs of `endpoints`.
PairTable mesh(std::uint32_t endpoints) {
  PairTable pairs;
  for (std::uint32_t a = 0; a < endpoints; ++a) {
    for (std::uint32_t b = 0; b < endpoints; ++b) {
      if (a != b) {
        pairs.push_back({EndpointId(a), EndpointId(b)});
      }
    }
  }
  return pairs;
}

std::vector<PairId> accused(const std::vector<Verdict>& verdicts) {
  std::vector<PairId> pairs;
  for (const Verdict& verdict : verdicts) {
    pairs.push_back(verdict.pair);
  }
  return pairs;
}

TEST(PairTally, CountsProbesAndNoLocalErrors) {
  const std::vector<std::uint32_t> rtts = {
      90'000, 16'000, kLostRtt, local_error_rtt(LocalError::kNoRoute), 60'000};
  const PairTally warm =
      tally_of({.pair = PairId(0), .start = {}, .rtts_ns = rtts}, microseconds(50));
  EXPECT_EQ(warm.answered, 3U);
  EXPECT_EQ(warm.lost, 1U);
  EXPECT_EQ(warm.late, 2U);
  const PairTally cold =
      tally_of({.pair = PairId(0), .start = {}, .cold = true, .rtts_ns = rtts}, microseconds(50));
  EXPECT_EQ(cold.late, 1U);
}

TEST(PairTally, PutsTheQuantileAboveTheLimitWhereMoreThanItsShareIsLate) {
  EXPECT_FALSE((PairTally{.answered = 200, .lost = 0, .late = 2}.quantile_is_late(0.99)));
  EXPECT_TRUE((PairTally{.answered = 200, .lost = 0, .late = 3}.quantile_is_late(0.99)));
}

TEST(TumblingClock, ClosesOnceAWindow) {
  TumblingClock clock(seconds(30));
  EXPECT_FALSE(clock.closes(kStartOfRun + seconds(29)));
  EXPECT_TRUE(clock.closes(kStartOfRun + seconds(31)));
  EXPECT_FALSE(clock.closes(kStartOfRun + seconds(59)));
  EXPECT_TRUE(clock.closes(kStartOfRun + seconds(200)));
}

TEST(Pingmesh, AccusesAboveItsThresholdsOnly) {
  struct Case {
    const char* name;
    std::vector<std::uint32_t> rtts;
    bool accused;
  };

  const Case cases[] = {
      {"healthy", probes(1000, 16'000, 0), false},
      {"one in a thousand lost", probes(999, 16'000, 1), false},
      {"two in a thousand lost", probes(998, 16'000, 2), true},
      {"P99 above 5 ms", probes(1000, 5'100'000, 0), true},
      {"P99 below 5 ms", probes(1000, 4'900'000, 0), false},
      {"too few to tell", probes(0, 0, 9), false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PingmeshDetector detector;
    detector.resize(1);
    std::vector<Verdict> verdicts;
    const ObservedVisit visit{.pair = PairId(0), .start = {}, .rtts_ns = c.rtts};
    detector.observe(kStartOfRun + seconds(299), {&visit, 1});
    detector.evaluate(kStartOfRun + seconds(299), verdicts);
    EXPECT_TRUE(verdicts.empty());
    detector.evaluate(kStartOfRun + minutes(5), verdicts);
    EXPECT_EQ(!verdicts.empty(), c.accused);
  }
}

/// One visit of every pair, those of `rnic` losing `lost` of ten.
void visit_all(Detector& detector, const PairTable& pairs, std::uint32_t rnic, std::uint32_t lost) {
  const auto good = probes(10, 16'000, 0);
  const auto bad = probes(10 - lost, 16'000, lost);
  for (std::uint32_t p = 0; p < pairs.size(); ++p) {
    const Pair& ends = pairs[PairId(p)];
    const bool touches = ends.source.index() == rnic || ends.target.index() == rnic;
    const ObservedVisit visit{.pair = PairId(p), .start = {}, .rtts_ns = touches ? bad : good};
    detector.observe(kStartOfRun + seconds(1), {&visit, 1});
  }
}

TEST(RPingmesh, AccusesPairsOfAnRnicThatTimesOutMoreThanATenth) {
  const PairTable pairs = mesh(20);
  for (const std::uint32_t lost : {1U, 2U}) {
    RPingmeshDetector detector(pairs);
    detector.resize(pairs.size());
    visit_all(detector, pairs, 3, lost);
    std::vector<Verdict> verdicts;
    detector.evaluate(kStartOfRun + seconds(20), verdicts);
    // 10 % is not more than 10 %; the other RNICs lose less than a tenth of that.
    EXPECT_EQ(verdicts.size(), lost == 1 ? 0U : 2U * 19U);
  }
}

// The author's own word: with two RNICs under a ToR one that fails makes half of the probes fail.
TEST(RPingmesh, CannotTellTwoRnicsApart) {
  const PairTable pairs = mesh(2);
  RPingmeshDetector detector(pairs);
  detector.resize(pairs.size());
  visit_all(detector, pairs, 0, 10);
  std::vector<Verdict> verdicts;
  detector.evaluate(kStartOfRun + seconds(20), verdicts);
  EXPECT_EQ(verdicts.size(), 2U);
}

TEST(LossCrossings, NamesPairsThatShareALink) {
  const auto hop = [](std::uint32_t link) {
    return PathHop{ComponentId(link), LinkDirection::kUp};
  };
  const TracedPath first{.request = {hop(1), hop(2)}, .answer = {hop(2), hop(3)}};
  const TracedPath second{.request = {hop(4), hop(2)}, .answer = {hop(5)}};
  const TracedPath third{.request = {hop(6)}, .answer = {hop(7)}};
  LossCrossings crossings;
  crossings.add(PairId(9), first);
  crossings.add(PairId(9), first);
  crossings.add(PairId(5), third);
  EXPECT_TRUE(crossings.sharing(2).empty());
  crossings.add(PairId(4), second);
  EXPECT_EQ(crossings.sharing(2), (std::vector<PairId>{PairId(4), PairId(9)}));
}

TEST(MeshVote, AccusesTwoLosersOnOneLinkAndEverySlowPair) {
  const auto hop = [](std::uint32_t link) {
    return PathHop{ComponentId(link), LinkDirection::kUp};
  };
  const TracedPath shared{.request = {hop(1)}, .answer = {hop(2)}};
  const TracedPath lonely{.request = {hop(3)}, .answer = {hop(4)}};
  const auto lossy = probes(9, 16'000, 1);
  const auto slow = probes(10, 51'000, 0);
  const ObservedVisit visits[] = {
      {.pair = PairId(0), .start = {}, .rtts_ns = lossy, .path = &shared},
      {.pair = PairId(1), .start = {}, .rtts_ns = lossy, .path = &shared},
      {.pair = PairId(2), .start = {}, .rtts_ns = lossy, .path = &lonely},
      {.pair = PairId(3), .start = {}, .rtts_ns = slow, .path = &lonely},
  };
  MeshVoteDetector detector;
  detector.resize(4);
  detector.observe(kStartOfRun + seconds(1), visits);
  std::vector<Verdict> verdicts;
  detector.evaluate(kStartOfRun + seconds(30), verdicts);
  EXPECT_EQ(accused(verdicts), (std::vector<PairId>{PairId(0), PairId(1), PairId(3)}));
}

TEST(CounterRules, FollowThePublishedTable) {
  struct Case {
    RnicCounter counter;
    std::int64_t delta;
    Duration interval;
    CounterFinding finding;
  };

  const Case cases[] = {
      {RnicCounter::kLinkDowned, 1, seconds(5), CounterFinding::kFatal},
      {RnicCounter::kLinkDowned, 0, seconds(5), CounterFinding::kNone},
      {RnicCounter::kLinkDowned, -3, seconds(5), CounterFinding::kNone},
      {RnicCounter::kRnrNakRetryErr, 1, seconds(5), CounterFinding::kFatal},
      {RnicCounter::kSymbolError, 50, seconds(5), CounterFinding::kNone},
      {RnicCounter::kSymbolError, 51, seconds(5), CounterFinding::kNonFatal},
      {RnicCounter::kSymbolError, 120, hours(1), CounterFinding::kNone},
      {RnicCounter::kSymbolError, 121, hours(1), CounterFinding::kFatal},
      {RnicCounter::kLinkErrorRecovery, 6, minutes(1), CounterFinding::kNonFatal},
      {RnicCounter::kLinkErrorRecovery, 5, minutes(1), CounterFinding::kNone},
      {RnicCounter::kPortXmitDiscards, 501, seconds(5), CounterFinding::kNonFatal},
      {RnicCounter::kLocalAckTimeoutErr, 5, seconds(5), CounterFinding::kNone},
      {RnicCounter::kLocalAckTimeoutErr, 6, seconds(5), CounterFinding::kNonFatal},
      {RnicCounter::kCarrierChanges, 3, seconds(5), CounterFinding::kNonFatal},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(to_string(c.counter));
    EXPECT_EQ(counter_finding(c.counter, c.delta, c.interval), c.finding) << c.delta;
  }
}

TEST(CounterRules, MakeFiveNonFatalFindingsOfADayFatal) {
  FindingHistory history;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(history.add(kStartOfRun + hours(i), CounterFinding::kNonFatal),
              CounterFinding::kNonFatal);
  }
  EXPECT_EQ(history.add(kStartOfRun + hours(24), CounterFinding::kNonFatal),
            CounterFinding::kFatal);
  EXPECT_EQ(history.add(kStartOfRun + hours(40), CounterFinding::kNonFatal),
            CounterFinding::kNonFatal);
}

TEST(CounterRules, SeeAnRnicThatLosesMoreThanOneProbeASecond) {
  const PairTable pairs = mesh(4);
  for (const std::uint32_t lost : {1U, 2U}) {
    CounterRulesDetector detector(pairs);
    detector.resize(pairs.size());
    visit_all(detector, pairs, 3, lost);
    std::vector<Verdict> verdicts;
    detector.evaluate(kStartOfRun + seconds(5), verdicts);
    // RNIC 3 sends three visits: 3 losses in 5 s are no finding, 6 are one.
    EXPECT_EQ(accused(verdicts).size(), lost == 1 ? 0U : 3U);
  }
}

TEST(ThreePathTest, TellsHostFromNetwork) {
  constexpr auto kAnswered = PathOutcome::kAnswered;
  constexpr auto kTimedOut = PathOutcome::kTimedOut;
  EXPECT_EQ(three_path_test({kAnswered, kAnswered, kAnswered}), HostOrNetwork::kHealthy);
  EXPECT_EQ(three_path_test({kAnswered, kTimedOut, kAnswered}), HostOrNetwork::kNetwork);
  EXPECT_EQ(three_path_test({kTimedOut, kTimedOut, kAnswered}), HostOrNetwork::kNetwork);
  EXPECT_EQ(three_path_test({kTimedOut, kTimedOut, kTimedOut}), HostOrNetwork::kHost);
  EXPECT_EQ(three_path_test({kTimedOut, kTimedOut, PathOutcome::kUntried}),
            HostOrNetwork::kUnknown);
}

}  // namespace
}  // namespace bonescan
