#include "detectors/loss/visit_log.h"
#include "tests/support/fake_telemetry.h"

namespace bonescan {
namespace {

using fakes::at_s;

constexpr std::uint32_t kOk = 16'000;

class VisitLogTest : public testing::Test {
 protected:
  VisitOutcome add(std::uint32_t pair, Time start, std::vector<std::uint32_t> rtts) {
    Visit visit;
    visit.pair = PairId(pair);
    visit.start = start;
    visit.source_port = 50'000;
    visit.count = static_cast<std::uint8_t>(rtts.size());
    return log_.add(visit, rtts);
  }

  VisitLog log_{std::chrono::seconds(60)};
};

TEST_F(VisitLogTest, CountsLossesInARowAcrossVisits) {
  struct Step {
    std::vector<std::uint32_t> rtts;
    std::uint32_t probes;
    std::uint32_t lost;
    std::uint32_t streak;
    std::uint32_t longest;
  };
  const std::vector<Step> steps = {
      {{kOk, kOk, kOk}, 3, 0, 0, 0},
      {{kOk, kLostRtt, kLostRtt}, 3, 2, 2, 2},
      {{kLostRtt}, 1, 1, 3, 3},
      {{kLocalErrorRtt, kLocalErrorRtt}, 0, 0, 3, 0},  // Says nothing: the streak goes on.
      {{kLostRtt, kLocalErrorRtt, kLostRtt}, 2, 2, 5, 5},
      {{kLostRtt, kOk, kLostRtt}, 3, 2, 1, 6},
      {{kOk}, 1, 0, 0, 0},
      {{}, 0, 0, 0, 0},
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SCOPED_TRACE(i);
    const VisitOutcome outcome = add(3, at_s(static_cast<std::int64_t>(i)), steps[i].rtts);
    EXPECT_EQ(outcome.probes, steps[i].probes);
    EXPECT_EQ(outcome.lost, steps[i].lost);
    EXPECT_EQ(outcome.lossy(), steps[i].lost > 0);
    EXPECT_EQ(log_.streak(PairId(3)), steps[i].streak);
    EXPECT_EQ(outcome.longest_run, steps[i].longest);
  }
}

TEST_F(VisitLogTest, KeepsThePairsApart) {
  add(0, at_s(0), {kLostRtt, kLostRtt});
  add(7, at_s(0), {kLostRtt});
  EXPECT_EQ(log_.streak(PairId(0)), 2u);
  EXPECT_EQ(log_.streak(PairId(7)), 1u);
  EXPECT_EQ(log_.streak(PairId(3)), 0u);
  EXPECT_EQ(log_.streak(PairId(1'000)), 0u);  // Never visited.
  log_.reset_streak(PairId(0));
  EXPECT_EQ(log_.streak(PairId(0)), 0u);
  EXPECT_EQ(log_.streak(PairId(7)), 1u);
}

TEST_F(VisitLogTest, ForgetsWhatStartedBeforeThePoolWindow) {
  for (int second = 0; second < 5; ++second) {
    add(0, at_s(second), {kLostRtt});
  }
  log_.forget(at_s(62));
  ASSERT_EQ(log_.recent().size(), 3u);  // 2 s is exactly 60 s ago: kept.
  EXPECT_EQ(log_.recent().front().start, at_s(2));
  EXPECT_EQ(log_.streak(PairId(0)), 5u);  // A streak outlives the visits that made it.
  log_.forget(at_s(1'000));
  EXPECT_TRUE(log_.recent().empty());
}

}  // namespace
}  // namespace bonescan
