// The rate that an agent keeps, and what becomes of the visits beyond it.
#include "tools/agent/throttled_probes.h"

#include "tests/support/fake_live.h"

#include <algorithm>
#include <map>
#include <vector>

namespace bonescan::fakes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kTurn = seconds(1);

/// Probes that are submitted turn by turn.
class Throttled : public testing::Test {
 protected:
  /// `count` visits of `probes` probes each, from pair 0 on, 10 ms apart.
  std::vector<ProbeRequest> turn(std::int64_t second,
                                 std::uint32_t count,
                                 std::uint8_t probes = 1) {
    std::vector<ProbeRequest> requests;
    for (std::uint32_t i = 0; i < count; ++i) {
      ProbeRequest request;
      request.pair = PairId(i);
      request.ends = {EndpointId(0), EndpointId(1)};
      request.start = at_s(second) + milliseconds(10 * i);
      request.spacing = milliseconds(1);
      request.timeout = milliseconds(200);
      request.count = probes;
      requests.push_back(request);
    }
    return requests;
  }

  ProbeBatch run_turn(std::int64_t second, std::uint32_t count, std::uint8_t probes = 1) {
    clock_.wait(at_s(second));
    probes_.submit(turn(second, count, probes));
    ProbeBatch batch;
    probes_.collect(at_s(second + 1), batch);
    return batch;
  }

  static std::uint32_t throttled_in(const ProbeBatch& batch) {
    return static_cast<std::uint32_t>(std::count(
        batch.rtt_ns.begin(), batch.rtt_ns.end(), local_error_rtt(LocalError::kThrottled)));
  }

  FakeTelemetry world_{fake_endpoints(2, 1)};
  FakeClock clock_;
  ThrottledProbes probes_{world_.telemetry().probes, clock_, kTurn};
};

TEST_F(Throttled, PassesEverythingBelowTheRate) {
  probes_.set_rate(10);
  for (int second = 0; second < 5; ++second) {
    const ProbeBatch batch = run_turn(second, 10);
    EXPECT_EQ(batch.visits.size(), 10u);
    EXPECT_EQ(throttled_in(batch), 0u);
  }
}

TEST_F(Throttled, SendsExactlyTheRateAndAnswersTheRest) {
  probes_.set_rate(4);
  for (int second = 0; second < 10; ++second) {
    const ProbeBatch batch = run_turn(second, 10);
    ASSERT_EQ(batch.visits.size(), 10u);
    EXPECT_EQ(throttled_in(batch), 6u);
    // In the order of the seam, with rows that belong to their visits.
    EXPECT_TRUE(std::is_sorted(batch.visits.begin(), batch.visits.end(), [](auto& a, auto& b) {
      return a.start < b.start;
    }));
    for (std::size_t i = 0; i < batch.visits.size(); ++i) {
      EXPECT_EQ(batch.visits[i].first, i);
    }
  }
  EXPECT_EQ(world_.requests.size(), 40u);
  EXPECT_EQ(probes_.throttled(), 60u);
}

TEST_F(Throttled, StarvesNoPair) {
  probes_.set_rate(3);
  for (int second = 0; second < 10; ++second) {
    run_turn(second, 10);
  }
  std::map<PairId, int> sent;
  for (const ProbeRequest& request : world_.requests) {
    ++sent[request.pair];
  }
  ASSERT_EQ(sent.size(), 10u);
  for (const auto& [pair, count] : sent) {
    EXPECT_EQ(count, 3) << pair.index();
  }
}

TEST_F(Throttled, SavesUpForAVisitThatIsLargerThanATurn) {
  probes_.set_rate(4);
  std::uint32_t sent = 0;
  for (int second = 0; second < 10; ++second) {
    sent += 10 - throttled_in(run_turn(second, 1, 10));
  }
  EXPECT_EQ(sent, 40u);
}

TEST_F(Throttled, DoesNotCatchUpOnWhatIsOver) {
  probes_.set_rate(100);
  clock_.wait(at_s(60));
  probes_.submit(turn(3, 10));
  ProbeBatch batch;
  probes_.collect(at_s(61), batch);
  EXPECT_EQ(throttled_in(batch), 10u);
  EXPECT_TRUE(world_.requests.empty());
}

TEST_F(Throttled, AppendsToWhatIsInTheBatch) {
  probes_.set_rate(1);
  ProbeBatch batch = run_turn(0, 2);
  probes_.submit(turn(1, 2));
  probes_.collect(at_s(2), batch);
  ASSERT_EQ(batch.visits.size(), 4u);
  for (std::size_t i = 0; i < batch.visits.size(); ++i) {
    EXPECT_EQ(batch.visits[i].first, i);
  }
}

TEST_F(Throttled, SendsNothingOnceClosed) {
  probes_.set_rate(100);
  probes_.close();
  EXPECT_TRUE(run_turn(0, 10).visits.empty());
  EXPECT_TRUE(world_.requests.empty());
}

}  // namespace
}  // namespace bonescan::fakes
