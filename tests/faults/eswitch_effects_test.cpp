// eswitch.capacity, rule.priority, ovs.flow_limit, and the settings behind them: what probes see.
#include "detectors/localize/table_diff.h"
#include "model/backend_sim/sim_backend.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace bonescan::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RnicId kOn(3);  // host 1, rail 1
// On rail 0 of the other hosts: the job sends nothing between them and kOn.
constexpr RnicId kFirst(0);
constexpr RnicId kSecond(4);
constexpr RnicId kThird(6);
constexpr double kTwoLookups = 104'000.0;
constexpr double kTwoUpcalls = 904'000.0;

EffectSpec capacity(std::uint32_t entries) {
  EffectSpec spec = on_rnic(EffectKind::kEswitchCapacity, kOn);
  spec.entries = entries;
  return spec;
}

/// Flows of an RNIC in the eswitch.
std::uint32_t offloaded(const World& world, RnicId rnic, Time now) {
  std::uint32_t count = 0;
  for (const QuadId id : world.flows().of(rnic)) {
    FlowQuad quad = world.flows()[id];
    world.settle_quad(quad, now);
    const std::size_t end = quad.end_of(rnic);
    count += quad.encap[end].place == FlowPlace::kOffloaded ? 1 : 0;
    count += quad.decap[end].place == FlowPlace::kOffloaded ? 1 : 0;
  }
  return count;
}

/// Probes pairs of kOn four times a second until `until`; a pair needs two entries at kOn.
void keep(SmallWorld& small, std::initializer_list<RnicId> peers, Time until, std::uint32_t most) {
  for (Time at = small.now() + milliseconds(250); at <= until; at += milliseconds(250)) {
    for (const RnicId peer : peers) {
      small.probe(peer, kOn, at);
      ASSERT_LE(offloaded(small.world, kOn, at), most);
    }
  }
}

TEST(EswitchCapacity, LeavesTheNewestPairsInSoftwareForAsLongAsTheyCome) {
  SmallWorld small;
  small.run_until(at_s(20));
  const auto effect = small.apply(capacity(4));
  keep(small, {kFirst, kSecond, kThird}, at_s(60), 4);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0);
  EXPECT_DOUBLE_EQ(small.added_ns(kSecond, kOn), 0.0);
  EXPECT_DOUBLE_EQ(small.added_ns(kThird, kOn), kTwoLookups);
  EXPECT_NEAR(small.added_loss(kThird, kOn), 0.0, 1e-9);
  // The first pair falls silent: its entries are free, and yet nobody offloads the third anew.
  keep(small, {kSecond, kThird}, at_s(90), 4);
  EXPECT_DOUBLE_EQ(small.added_ns(kThird, kOn), kTwoLookups);
  // After a silence of its own it is installed, and finds room.
  keep(small, {kSecond}, at_s(110), 4);
  keep(small, {kSecond, kThird}, at_s(112), 4);
  EXPECT_DOUBLE_EQ(small.added_ns(kThird, kOn), 0.0);
  // Now it is the first pair that comes too late.
  keep(small, {kFirst, kSecond, kThird}, at_s(130), 4);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), kTwoLookups);
  EXPECT_DOUBLE_EQ(small.added_ns(kThird, kOn), 0.0);
  effect->revert(small.world);
  keep(small, {kSecond}, at_s(150), 4);
  keep(small, {kFirst, kSecond, kThird}, at_s(152), 6);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0) << "all fit again";
}

TEST(EswitchCapacity, TakesTheEntriesOfTheNewestWhenItShrinks) {
  SmallWorld small;
  for (const RnicId peer : {kFirst, kSecond, kThird}) {
    small.run_for(seconds(1));
    keep(small, {peer}, small.now() + seconds(1), 6);
  }
  keep(small, {kFirst, kSecond, kThird}, at_s(25), 6);
  const auto effect = small.apply(capacity(2));
  EXPECT_EQ(offloaded(small.world, kOn, small.now()), 2u);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0);
  EXPECT_DOUBLE_EQ(small.added_ns(kSecond, kOn), kTwoLookups);
  EXPECT_DOUBLE_EQ(small.added_ns(kThird, kOn), kTwoLookups);
  EXPECT_DOUBLE_EQ(small.added_ns(kThird, RnicId(2)), 0.0) << "another RNIC of the host";
}

/// Random comings and goings: never more entries than there are, whatever the order.
TEST(EswitchCapacity, IsNeverExceeded) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    WorldOptions options = small_world_options(seed);
    options.overlay.eswitch.entries = 1 + seed % 7;
    options.overlay.eswitch.rebalance = seed % 2 == 0;
    SmallWorld small(options);
    const RngStream draws(seed, Purpose::kTest, 72);
    std::uint32_t most = 0;
    for (std::uint32_t step = 0; step < 300; ++step) {
      const Time at = small.now() + milliseconds(1 + draws.at(3 * step) % 4'000);
      const auto rnic = static_cast<std::uint32_t>(draws.at(3 * step + 1) % 6);
      small.probe(RnicId(rnic < 2 ? rnic : rnic + 2), kOn, at);
      most = std::max(most, offloaded(small.world, kOn, at));
      ASSERT_LE(most, options.overlay.eswitch.entries) << "seed=" << seed << " step " << step;
    }
    EXPECT_EQ(most, options.overlay.eswitch.entries) << "seed=" << seed << ": used to the last";
  }
}

TEST(OffloadRebalance, GivesTheEntriesOfIdleFlowsToBusyOnes) {
  WorldOptions options = small_world_options();
  options.overlay.eswitch = {.entries = 2, .tc_policy = TcPolicy::kSkipSw, .rebalance = true};
  SmallWorld small(options);
  small.run_until(at_s(20));
  keep(small, {kFirst}, at_s(22), 2);
  keep(small, {kSecond}, at_ms(22'250), 2);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0);
  // The next deal is at most 3 s away; the first pair is idle, but not yet aged out.
  keep(small, {kSecond}, at_s(26), 2);
  EXPECT_DOUBLE_EQ(small.added_ns(kSecond, kOn), 0.0);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), kTwoLookups);
}

TEST(TcPolicy, SkipHwKeepsEverythingInSoftwareAndTablesExpectIt) {
  WorldOptions options = small_world_options();
  options.overlay.eswitch.tc_policy = TcPolicy::kSkipHw;
  SmallWorld small(options);
  SimBackend backend(small.world, {});
  keep(small, {kFirst}, at_s(20), 0);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0) << "this is how it is without any fault";
  EXPECT_NEAR(small.condition(kFirst, kOn).rtt_ns, 16'000.0 + 2 * kTwoLookups, 2'000.0);
  const FlowKey flow{.source = *backend.endpoints().endpoint(kFirst),
                     .target = *backend.endpoints().endpoint(kOn),
                     .source_port = small.port};
  const auto dump = backend.telemetry().tables.dump(flow.target, std::span(&flow, 1), at_s(20));
  EXPECT_FALSE(dump->rows[0].hardware_expected);
  EXPECT_EQ(compare(dump->rows[0]).finding, RowFinding::kMatches);
}

TEST(RulePriority, AddsOneLookupToEveryCrossingAtOnceAndLosesNothing) {
  SmallWorld small;
  keep(small, {kFirst, kSecond}, at_s(20), 8);
  EffectSpec spec = on_rnic(EffectKind::kRulePriority, kOn);
  const auto effect = small.apply(spec);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), kTwoLookups);
  EXPECT_DOUBLE_EQ(small.added_ns(kSecond, kOn), kTwoLookups);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, RnicId(5)), 0.0);
  EXPECT_NEAR(small.added_loss(kFirst, kOn), 0.0, 1e-12);
  // A first packet is in software once, not twice: four upcalls and software lookups.
  const std::uint32_t cold = small.probe(kThird, kOn, at_ms(20'001));
  EXPECT_NEAR(cold, 4 * 452'000.0 + 16'000.0, 20'000.0);
  effect->revert(small.world);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0);
}

TEST(RulePriority, TouchesItsShareOfTheFlows) {
  SmallWorld small;
  EffectSpec spec = on_rnic(EffectKind::kRulePriority, kOn);
  spec.packets.flow_share = 0.5;
  const auto effect = small.apply(spec);
  int lookups = 0;
  for (const RnicId peer : {RnicId(0), RnicId(1), RnicId(4), RnicId(5), RnicId(6), RnicId(7)}) {
    const double added = small.added_ns(peer, kOn);
    EXPECT_DOUBLE_EQ(added, small.added_ns(kOn, peer)) << "both probing directions share it";
    lookups += static_cast<int>(added / 52'000.0 + 0.5);
  }
  EXPECT_GE(lookups, 2);
  EXPECT_LE(lookups, 10);
}

TEST(RulePriority, ShowsTheRuleThatComesFirst) {
  SmallWorld small;
  SimBackend backend(small.world, {});
  keep(small, {kFirst}, at_s(20), 8);
  const auto effect = small.apply(on_rnic(EffectKind::kRulePriority, kOn));
  const FlowKey flow{.source = *backend.endpoints().endpoint(kFirst),
                     .target = *backend.endpoints().endpoint(kOn),
                     .source_port = small.port};
  Telemetry telemetry = backend.telemetry();
  const auto dump = telemetry.tables.dump(flow.target, std::span(&flow, 1), at_s(20));
  const TableDiff diff = summarize(*dump);
  EXPECT_EQ(diff.strongest, RowFinding::kShadowed);
  EXPECT_EQ(diff.culprit, dump->rnic);
}

EffectSpec flow_limit(std::uint32_t flows) {
  EffectSpec spec;
  spec.kind = EffectKind::kFlowLimit;
  spec.on = {RefKind::kOvs, 1};
  spec.flows = flows;
  return spec;
}

TEST(FlowLimitEffect, MakesEveryPacketAnUpcallAboveTwiceTheLimit) {
  SmallWorld small;
  keep(small, {kFirst, kSecond, kThird}, at_s(20), 8);
  EXPECT_EQ(small.world.count_flows(HostId(1)), 6u);
  const auto effect = small.apply(flow_limit(2));
  keep(small, {kFirst, kSecond, kThird}, at_s(40), 8);
  EXPECT_EQ(offloaded(small.world, kOn, small.now()), 0u);
  // Upcalls are a load themselves: 24 a second of 400 us are one percent.
  EXPECT_NEAR(small.added_ns(kFirst, kOn), kTwoUpcalls, 0.03 * kTwoUpcalls);
  EXPECT_GT(small.added_ns(kFirst, kOn), kTwoUpcalls);
  EXPECT_NEAR(small.added_loss(kFirst, kOn), 0.0, 1e-9);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, RnicId(5)), 0.0) << "another host";
  effect->revert(small.world);
  keep(small, {kFirst, kSecond, kThird}, at_s(42), 8);
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0);
  EXPECT_EQ(small.world.revalidator(HostId(1)).pressure, HostPressure{});
  EXPECT_EQ(small.world.revalidator(HostId(1)).slowdown, 1.0);
}

/// Between the limit and twice of it: who was there stays while it is busy, who comes is refused.
TEST(FlowLimitEffect, KeepsBusyFlowsAndRefusesNewOnes) {
  SmallWorld small;
  const auto probe_often = [&](std::initializer_list<RnicId> peers, Time until) {
    for (Time at = small.now() + milliseconds(50); at <= until; at += milliseconds(50)) {
      for (const RnicId peer : peers) {
        small.probe(peer, kOn, at);
      }
    }
  };
  probe_often({kFirst, kSecond}, at_s(20));
  const auto effect = small.apply(flow_limit(3));
  probe_often({kFirst, kSecond}, at_s(21));  // A sweep, and the limit is in force.
  probe_often({kFirst, kSecond, kThird}, at_s(30));
  // Hits that a sweep finds when it reads the counters keep the entries of busy flows.
  EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0);
  EXPECT_NEAR(small.added_ns(kThird, kOn), kTwoUpcalls, 0.1 * kTwoUpcalls);
}

TEST(BackgroundFlows, MakeSweepsLongAndTheLimitFall) {
  WorldOptions options = small_world_options();
  options.overlay.background_flows = 300'000;  // 1.5 s of 5 us each
  SmallWorld small(options);
  small.run_until(at_s(60));
  const RevalidatorState& state = small.world.revalidator(HostId(1));
  EXPECT_EQ(state.last_sweep, milliseconds(1'500));
  EXPECT_EQ(small.world.clocks(kOn).sweeps.period(), milliseconds(1'500));
  EXPECT_EQ(state.limit, kSmallestFlowLimit);
  EXPECT_FALSE(state.pressure.installs);
  const Time sweep = small.world.clocks(kOn).sweeps.at_or_before(at_s(60));
  EXPECT_EQ(small.world.clocks(kOn).sweeps.after(sweep), sweep + milliseconds(1'500));
}

// 50,000 flows take 250 ms: the limit grows by 1,000 each 500 ms from 10,000, past them in 20 s.
TEST(BackgroundFlows, AreTooManyUntilTheLimitHasGrown) {
  WorldOptions options = small_world_options();
  options.overlay.background_flows = 50'000;
  SmallWorld small(options);
  small.run_until(at_s(18));
  EXPECT_FALSE(small.world.revalidator(HostId(1)).pressure.installs);
  small.run_until(at_s(22));
  EXPECT_TRUE(small.world.revalidator(HostId(1)).pressure.installs);
  small.run_until(at_s(300));
  EXPECT_EQ(small.world.revalidator(HostId(1)).limit, 200'000u);
}

/// Slow sweeps, and a rule elsewhere on the host changes: slow flows are deleted with the next one.
TEST(MinRevalidatePps, DeletesSlowFlowsAfterAnyChange) {
  const auto survives = [](OvsVersion version, std::uint32_t seed) {
    WorldOptions options = small_world_options(seed);
    options.overlay.background_flows = 60'000;  // 300 ms, more than half of 500 ms
    options.overlay.version = version;
    SmallWorld small(options);
    small.run_until(at_s(60));
    // One packet a second: offloaded, and reported by the counters once a second.
    for (int second = 60; second <= 80; ++second) {
      small.probe(kFirst, kOn, at_s(second));
    }
    const QuadId id = *small.world.flows().find(kFirst, kOn);
    const std::size_t end = small.world.flows()[id].end_of(kOn);
    const Time installed = small.world.flows()[id].decap[end].installed;
    EXPECT_EQ(installed, at_s(60));
    small.world.change_rule({HostId(1), RuleTable::kEncap, RnicId(5)}, RuleState::kMissing);
    for (int second = 81; second <= 83; ++second) {
      small.probe(kFirst, kOn, at_s(second));
    }
    return small.world.flows()[id].decap[end].installed == installed;
  };
  // Whether the counters were read just before the sweep is a matter of phases.
  int deleted = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    deleted += survives(OvsVersion::kV31, seed) ? 0 : 1;
    EXPECT_TRUE(survives(OvsVersion::kV33, seed)) << "seed=" << seed;
  }
  EXPECT_GE(deleted, 4);
}

TEST(CpuLoad, SlowsSoftwareAndNothingElse) {
  for (const double load : {0.0, 0.5, 0.9}) {
    WorldOptions options = small_world_options();
    options.overlay.cpu_load = load;
    SmallWorld small(options);
    keep(small, {kFirst}, at_s(20), 8);
    EXPECT_DOUBLE_EQ(small.added_ns(kFirst, kOn), 0.0);
    const auto effect = small.apply(on_rnic(EffectKind::kOffloadRemove, kOn));
    EXPECT_NEAR(small.added_ns(kFirst, kOn), kTwoLookups / (1.0 - load), 1.0);
  }
}

/// RTT above the steady one, over a minute of steady probing: upcalls and nothing else.
double surplus_ns(double share) {
  WorldOptions options = small_world_options();
  options.overlay.ecn_marked_share = share;
  options.latency.spike_ratio = 0.0;
  options.latency.jitter_sigma = 0.0;
  options.latency.load_queue_mean = Duration(0);
  SmallWorld small(options);
  double sum = 0.0;
  for (Time at = at_s(20); at <= at_s(80); at += milliseconds(100)) {
    const std::uint32_t rtt = small.probe(kFirst, kOn, at);
    sum += rtt == kNoAnswer ? 0.0 : rtt - small.healthy(kFirst, kOn).rtt_ns;
  }
  return sum;
}

// Four megaflows and one upcall each; a marked request and a marked answer meet two more.
TEST(EcnMarks, GiveMarkedPacketsMegaflowsOfTheirOwn) {
  const double upcall = 452'000.0;
  EXPECT_NEAR(surplus_ns(0.0), 4 * upcall, 0.05 * upcall);
  EXPECT_NEAR(surplus_ns(0.5), 6 * upcall, 0.05 * upcall);
  EXPECT_NEAR(surplus_ns(1.0), 4 * upcall, 0.05 * upcall);
  // One probe in a hundred: the second megaflows age out between their packets, again and again.
  EXPECT_GT(surplus_ns(0.01), 7 * upcall);
}

}  // namespace
}  // namespace bonescan::test
