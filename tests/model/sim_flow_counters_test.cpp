#include "model/backend_sim/sim_flow_counters.h"

#include "model/backend_sim/sim_backend.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Time at_s(int s) {
  return kStartOfRun + seconds(s);
}

class SimFlowCountersTest : public testing::Test {
 protected:
  explicit SimFlowCountersTest(const WorldOptions& options = test::small_world_options())
      : small_(options), endpoints_(small_.world), counters_(small_.world, endpoints_) {}

  std::map<EndpointId, FlowCounter> read(RnicId rnic,
                                         Time now,
                                         FlowCounting counting = FlowCounting::kTables) {
    small_.run_until(now);
    std::map<EndpointId, FlowCounter> found;
    EndpointId last;
    for (const FlowCounter& flow : counters_.read(rnic, counting, now)) {
      EXPECT_TRUE(!last.valid() || last < flow.peer);
      last = flow.peer;
      found[flow.peer] = flow;
    }
    return found;
  }

  EndpointId endpoint(RnicId rnic) const { return *endpoints_.endpoint(rnic); }

  const Job& job() const { return small_.world.jobs()[0]; }

  std::vector<RnicId> with_traffic(RnicId rnic, TrafficKind kind) const {
    std::vector<RnicId> found;
    for (const RnicId other : job().rnics()) {
      if (job().traffic(rnic, other) == kind) {
        found.push_back(other);
      }
    }
    return found;
  }

  /// On another host, and no peer.
  RnicId stranger(RnicId rnic) const {
    for (const RnicId other : job().rnics()) {
      if (small_.world.fabric().host_of(other) != small_.world.fabric().host_of(rnic) &&
          job().traffic(rnic, other) == TrafficKind::kNone) {
        return other;
      }
    }
    return RnicId();
  }

  test::SmallWorld small_;
  EndpointMap endpoints_;
  SimFlowCounters counters_;
};

/// Goal: entries of the job are there although nobody probes it, and looking changes nothing.
TEST_F(SimFlowCountersTest, CountsTheJobsFlowsWithoutProbes) {
  const RnicId rnic(0);
  const RnicId next_stage = with_traffic(rnic, TrafficKind::kPipeline).at(0);
  const RnicId ring = with_traffic(rnic, TrafficKind::kRing).at(0);
  const auto first = read(rnic, at_s(40));
  EXPECT_EQ(first.size(), 2U);
  const auto second = read(rnic, at_s(56));
  EXPECT_EQ(small_.world.flows().size(), 0U);
  // Two steps of 8 s: bursts of a fifth at 15 Gb/s; a thousandth of the rate all the time.
  const auto more = [&](RnicId peer) {
    return static_cast<double>(second.at(endpoint(peer)).bytes - first.at(endpoint(peer)).bytes);
  };
  EXPECT_NEAR(more(ring), 2 * 1.6 * 15e9 / 8, 0.2 * 2 * 1.6 * 15e9 / 8);
  EXPECT_GT(more(next_stage), 16 * 1e5);
  EXPECT_LT(more(next_stage), 16 * 2e7);
  EXPECT_GE(second.at(endpoint(ring)).age, seconds(16)) << "never silent for ten seconds";
}

TEST_F(SimFlowCountersTest, ShowsWhatTheLastRefreshHasRead) {
  const RnicId rnic(0);
  const RnicId next_stage = with_traffic(rnic, TrafficKind::kPipeline).at(0);
  int changes = 0;
  std::uint64_t last = 0;
  for (int tenth = 0; tenth < 100; ++tenth) {
    const auto now = at_s(40) + milliseconds(100) * tenth;
    const std::uint64_t bytes = read(rnic, now).at(endpoint(next_stage)).bytes;
    EXPECT_GE(bytes, last);
    changes += bytes != last && tenth > 0 ? 1 : 0;
    last = bytes;
  }
  EXPECT_GE(changes, 9);
  EXPECT_LE(changes, 10) << "once a second";
}

TEST_F(SimFlowCountersTest, ListsProbesUntilTheyIdleOut) {
  const RnicId rnic(0);
  const RnicId other = stranger(rnic);
  ASSERT_TRUE(other.valid());
  small_.run_until(at_s(20));
  EXPECT_FALSE(read(rnic, at_s(20)).contains(endpoint(other)));
  small_.keep_probing(rnic, other, milliseconds(100), at_s(22));
  const auto seen = read(rnic, at_s(24));
  ASSERT_TRUE(seen.contains(endpoint(other)));
  EXPECT_EQ(seen.at(endpoint(other)).bytes, 20U * 130U);
  EXPECT_TRUE(read(rnic, at_s(31)).contains(endpoint(other)));
  EXPECT_FALSE(read(rnic, at_s(34)).contains(endpoint(other)));
}

/// Goal: the paper's Figure 18 as the tables show it.
TEST_F(SimFlowCountersTest, StandsStillWhileCountersAreFrozen) {
  const RnicId rnic(0);
  const EndpointId peer = endpoint(with_traffic(rnic, TrafficKind::kPipeline).at(0));
  small_.run_until(at_s(40));
  small_.world.freeze_counters(rnic);
  const std::uint64_t frozen = read(rnic, at_s(41)).at(peer).bytes;
  EXPECT_EQ(read(rnic, at_s(47)).at(peer).bytes, frozen);
  EXPECT_GT(read(rnic, at_s(55)).at(peer).bytes, frozen) << "aged out of the eswitch: software";
}

TEST_F(SimFlowCountersTest, TheOracleNamesThePeersAndNobodyElse) {
  const RnicId rnic(3);
  small_.run_until(at_s(20));
  small_.keep_probing(rnic, stranger(rnic), milliseconds(100), at_s(22));
  const auto named = read(rnic, at_s(22), FlowCounting::kOracle);
  std::vector<EndpointId> expected;
  for (const RnicId other : job().rnics()) {
    if (job().traffic(rnic, other) != TrafficKind::kNone) {
      expected.push_back(endpoint(other));
    }
  }
  std::sort(expected.begin(), expected.end());
  std::vector<EndpointId> found;
  for (const auto& [peer, flow] : named) {
    found.push_back(peer);
  }
  EXPECT_EQ(found, expected);
}

TEST(SimFlowTables, AnswersThroughTheSeamAsItsOptionsSay) {
  test::SmallWorld small;
  SimBackend tables(small.world, {});
  SimBackend oracle(small.world, {.flow_counting = FlowCounting::kOracle});
  const auto unknown = tables.telemetry().tables.flow_counters(EndpointId(77), at_s(1));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnavailable);
  const auto counted = tables.telemetry().tables.flow_counters(EndpointId(0), at_s(40));
  const auto named = oracle.telemetry().tables.flow_counters(EndpointId(0), at_s(40));
  ASSERT_TRUE(counted && named);
  EXPECT_EQ(counted->flows.size(), named->flows.size());
  EXPECT_GT(counted->flows[0].bytes, 1U);
  EXPECT_EQ(named->flows[0].bytes, 1U);
}

}  // namespace
}  // namespace bonescan
