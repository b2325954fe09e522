// Effects of the paper's Table 1 that are nowhere else: what probes see of them, and what the host
// says.
#include "model/backend_sim/rdma_counters.h"
#include "model/backend_sim/sim_backend.h"
#include "tests/support/small_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace bonescan::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

constexpr HostId kHost(1);
constexpr RnicId kOn(3);    // of host 1, rail 1
constexpr RnicId kPeer(5);  // of host 2, the same rail
constexpr RnicId kIdle(4);  // the job sends nothing between it and kOn
constexpr double kLookupNs = 52'000.0;

EffectSpec on_switch(SwitchId id) {
  EffectSpec spec;
  spec.kind = EffectKind::kSwitchDown;
  spec.on = {RefKind::kSwitch, id.index()};
  return spec;
}

EffectSpec board_error() {
  EffectSpec spec;
  spec.kind = EffectKind::kBoardError;
  spec.on = {RefKind::kHost, kHost.index()};
  return spec;
}

EffectSpec stall(double flow_share, Duration delay) {
  EffectSpec spec = on_rnic(EffectKind::kRnicStall, kOn);
  spec.packets.flow_share = flow_share;
  spec.delay = delay;
  return spec;
}

EffectSpec churn(Duration without, Duration with) {
  EffectSpec spec = on_rnic(EffectKind::kOffloadChurn, kOn);
  spec.down = without;
  spec.up = with;
  return spec;
}

HostReport report(SmallWorld& small, RnicId rnic, const TelemetryChannelOptions& channel = {}) {
  SimBackend backend(small.world, {.channel = channel});
  EndpointMap endpoints(small.world);
  const auto found =
      backend.telemetry().hosts->inspect(*endpoints.endpoint(rnic), small.engine.now());
  BONESCAN_CHECK(found.has_value());
  return *found;
}

void expect_sound(SmallWorld& small) {
  for (const auto& [source, target] : small.pairs()) {
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-9);
    EXPECT_NE(small.probe(source, target, small.now() + milliseconds(1)), kNoAnswer);
  }
}

// A ToR is the only way of its RNICs.
TEST(SwitchDown, OfATorSilencesItsRnicsForAsLongAsItIsGone) {
  SmallWorld small;
  small.run_until(at_s(5));
  const Fabric& fabric = small.world.fabric();
  const SwitchId tor = fabric.tor_of(kOn);
  const auto effect = small.apply(on_switch(tor));
  for (const Time at : {at_s(5), at_s(8)}) {
    small.run_until(at);
    for (const auto& [source, target] : small.pairs()) {
      const bool hit = fabric.tor_of(source) == tor || fabric.tor_of(target) == tor;
      EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5);
    }
  }
  effect->revert(small.world);
  small.run_for(seconds(2));
  expect_sound(small);
}

TEST(SwitchDown, OfAHigherSwitchIsRoutedAround) {
  SmallWorld small;
  small.run_until(at_s(5));
  std::vector<RnicPair> crossing;
  const Fabric& fabric = small.world.fabric();
  const SwitchId upper = fabric.aggregation(0);
  for (const auto& [source, target] : small.pairs()) {
    for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
      const CableId cable(c);
      if (fabric.upper_switch(cable) == upper &&
          small.crossings(source, target, Fabric::up(cable)) > 0) {
        crossing.emplace_back(source, target);
        break;
      }
    }
  }
  ASSERT_GE(crossing.size(), 4u);
  const auto effect = small.apply(on_switch(upper));
  for (const auto& [source, target] : crossing) {
    EXPECT_NEAR(small.added_loss(source, target), 1.0, 1e-5);
  }
  small.run_for(milliseconds(900));
  expect_sound(small);
  effect->revert(small.world);
  small.run_for(seconds(2));
  expect_sound(small);
}

TEST(RnicFail, SilencesTheRnicAndLeavesItsHostWithoutSuchADevice) {
  SmallWorld small;
  small.run_until(at_s(5));
  EXPECT_TRUE(report(small, kOn).port.has_value());
  const auto effect = small.apply(on_rnic(EffectKind::kRnicFail, kOn));
  for (const auto& [source, target] : small.pairs()) {
    const bool hit = source == kOn || target == kOn;
    EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5);
  }
  const HostReport says = report(small, kOn);
  EXPECT_FALSE(says.port.has_value());
  EXPECT_FALSE(says.pcie.has_value());
  EXPECT_FALSE(says.gids.has_value());
  EXPECT_THAT(says.hugepages, SizeIs(1)) << "the host itself is well";
  EXPECT_TRUE(report(small, RnicId(2)).port.has_value()) << "and so is its other RNIC";
  effect->revert(small.world);
  EXPECT_TRUE(report(small, kOn).port.has_value());
  expect_sound(small);
}

TEST(RnicStall, DelaysEveryCrossingOfTheRnicAndLosesNothing) {
  SmallWorld small;
  small.run_until(at_s(5));
  const auto effect = small.apply(stall(1.0, microseconds(100)));
  for (const auto& [source, target] : small.pairs()) {
    const bool hit = source == kOn || target == kOn;
    // Once there and once back.
    EXPECT_NEAR(small.added_ns(source, target), hit ? 200'000.0 : 0.0, 1.0);
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-9);
  }
  EXPECT_EQ(report(small, kOn).port->state, "ACTIVE") << "the link stays up";
  effect->revert(small.world);
  EXPECT_NEAR(small.added_ns(kOn, kPeer), 0.0, 1.0);
}

TEST(RnicStall, TouchesItsShareOfTheFiveTuples) {
  SmallWorld small;
  small.run_until(at_s(5));
  const auto effect = small.apply(stall(0.3, microseconds(100)));
  int hits = 0;
  constexpr int kPorts = 2'000;
  for (int i = 0; i < kPorts; ++i) {
    small.port = static_cast<std::uint16_t>(40'000 + i);
    const double added_us = small.added_ns(kOn, kPeer) / 1'000.0;
    hits += static_cast<int>(added_us / 100.0 + 0.5);
    EXPECT_TRUE(added_us < 1.0 || (added_us > 99.0 && added_us < 201.0)) << added_us;
  }
  // Request and answer are flows of their own; five standard deviations.
  EXPECT_NEAR(hits, 2 * kPorts * 0.3, 145.0);
}

TEST(OffloadRefuse, LeavesEveryPairOfTheRnicInSoftwareUntilItsFlowsAreInstalledAgain) {
  SmallWorld small;
  small.run_until(at_s(5));
  for (const RnicId peer : {kPeer, RnicId(1)}) {
    small.keep_probing(kOn, peer, milliseconds(500), small.now() + seconds(2));
    EXPECT_NEAR(small.added_ns(kOn, peer), 0.0, 1.0);
  }
  const auto effect = small.apply(on_rnic(EffectKind::kOffloadRefuse, kOn));
  // One lookup there and one back at this RNIC, for warm flows and, once installed, for new ones.
  EXPECT_NEAR(small.added_ns(kOn, kPeer), 2 * kLookupNs, 1.0);
  small.keep_probing(kIdle, kOn, milliseconds(500), small.now() + seconds(5));
  EXPECT_NEAR(small.added_ns(kIdle, kOn), 2 * kLookupNs, 1.0);
  EXPECT_NEAR(small.added_loss(kOn, kPeer), 0.0, 1e-9);
  EXPECT_NEAR(small.added_ns(RnicId(1), kPeer), 0.0, 1.0) << "others have theirs";
  effect->revert(small.world);
  EXPECT_NEAR(small.added_ns(kIdle, kOn), 2 * kLookupNs, 1.0) << "still in software";
  small.run_for(seconds(30));  // Longer than max-idle: gone from every table.
  small.keep_probing(kIdle, kOn, milliseconds(500), small.now() + seconds(2));
  EXPECT_NEAR(small.added_ns(kIdle, kOn), 0.0, 1.0);
}

TEST(OffloadChurn, AlternatesBetweenSoftwareAndHardware) {
  SmallWorld small;
  small.run_until(at_s(5));
  small.keep_probing(kOn, kPeer, milliseconds(200), at_s(8));
  const auto effect = small.apply(churn(seconds(1), seconds(3)));
  for (int cycle = 0; cycle < 5; ++cycle) {
    SCOPED_TRACE(cycle);
    const Time begin = at_s(8 + 4 * cycle);
    small.keep_probing(kOn, kPeer, milliseconds(200), begin + milliseconds(800));
    EXPECT_NEAR(small.added_ns(kOn, kPeer), 2 * kLookupNs, 1.0);
    EXPECT_NEAR(small.added_loss(kOn, kPeer), 0.0, 1e-9);
    small.keep_probing(kOn, kPeer, milliseconds(200), begin + milliseconds(3'800));
    EXPECT_NEAR(small.added_ns(kOn, kPeer), 0.0, 1.0);
    EXPECT_NEAR(small.added_ns(RnicId(1), kPeer), 0.0, 1.0);
  }
  small.run_until(at_ms(28'500));
  effect->revert(small.world);
  EXPECT_NEAR(small.added_ns(kOn, kPeer), 0.0, 1.0) << "entries that were away are put back";
}

TEST(BoardError, KeepsTheRnicsOfAHostApartAndIsSeenByItsHostAlone) {
  SmallWorld small;
  small.run_until(at_s(5));
  const RnicId neighbour(2);
  EXPECT_NE(small.probe(kOn, neighbour, at_s(6)), kNoAnswer);
  EXPECT_EQ(report(small, kOn).pcie->speed_gts, 32.0);
  const auto effect = small.apply(board_error());
  EXPECT_EQ(small.probe(kOn, neighbour, at_s(7)), kNoAnswer);
  EXPECT_EQ(small.probe(neighbour, kOn, at_s(7)), kNoAnswer);
  EXPECT_NE(small.probe(RnicId(0), RnicId(1), at_s(7)), kNoAnswer) << "of another host";
  expect_sound(small);
  for (const RnicId rnic : {kOn, neighbour}) {
    EXPECT_EQ(report(small, rnic).pcie->speed_gts, 16.0);
    EXPECT_EQ(report(small, rnic).pcie->speed_limit_gts, 32.0);
  }
  EXPECT_EQ(report(small, kPeer).pcie->speed_gts, 32.0);
  effect->revert(small.world);
  EXPECT_EQ(report(small, kOn).pcie->speed_gts, 32.0);
  EXPECT_NE(small.probe(kOn, neighbour, at_s(8)), kNoAnswer);
}

TEST(GpuDirectOff, IsSeenByNobody) {
  SmallWorld small;
  SmallWorld twin;
  const auto effect = small.apply(on_rnic(EffectKind::kGpuDirectOff, kOn));
  const TelemetryChannelOptions told{.rdma_counters = true};
  for (SmallWorld* world : {&small, &twin}) {
    world->run_until(at_s(5));
  }
  EXPECT_TRUE(small.world.troubles().gpudirect_off(kOn));
  for (const auto& [source, target] : small.pairs()) {
    const Time at = small.now() + milliseconds(1);
    EXPECT_EQ(small.probe(source, target, at), twin.probe(source, target, at));
  }
  const HostReport says = report(small, kOn, told);
  const HostReport usual = report(twin, kOn, told);
  EXPECT_EQ(says.gids, usual.gids);
  EXPECT_EQ(says.pcie, usual.pcie);
  EXPECT_EQ(says.port, usual.port);
  EXPECT_EQ(says.counts, usual.counts);
}

/// Everything that the throughput samplers say until now of an RNIC.
std::vector<ThroughputSample> samples_of(SmallWorld& small, RnicId rnic) {
  SimBackend backend(small.world, {});
  EndpointMap endpoints(small.world);
  std::vector<ThroughputSample> samples;
  backend.telemetry().throughput.collect(small.now(), samples);
  std::erase_if(samples, [&](const ThroughputSample& sample) {
    return sample.endpoint != *endpoints.endpoint(rnic);
  });
  return samples;
}

std::uint64_t bytes_in(const std::vector<ThroughputSample>& samples, Time from, Time to) {
  std::uint64_t sum = 0;
  for (const ThroughputSample& sample : samples) {
    sum += sample.at > from && sample.at <= to ? sample.bytes : 0;
  }
  return sum;
}

TEST(RdmaBypass, LeavesTheRdmaCountersFlatWhileProbesPass) {
  SmallWorld small;
  small.run_until(at_s(20));
  const auto effect = small.apply(on_rnic(EffectKind::kRdmaBypass, kOn));
  small.run_until(at_s(80));
  EXPECT_EQ(rdma_bytes(small.world, kOn, at_s(20), at_s(80)), 0.0);
  EXPECT_GT(rdma_bytes(small.world, kOn, at_s(0), at_s(20)), 1e6) << "before it they moved";
  EXPECT_GT(rdma_bytes(small.world, kPeer, at_s(20), at_s(80)), 1e6) << "others' move";
  expect_sound(small);
  effect->revert(small.world);
  small.run_until(at_s(120));
  EXPECT_GT(rdma_bytes(small.world, kOn, at_s(80), at_s(120)), 1e6);
  const std::vector<ThroughputSample> samples = samples_of(small, kOn);
  EXPECT_EQ(bytes_in(samples, at_s(20), at_s(80)), 0u);
  EXPECT_GT(bytes_in(samples, at_s(80), at_s(120)), 1'000'000u);
}

TEST(RdmaBypass, IsInTheCountersOfTheHostIfItTellsThem) {
  SmallWorld small;
  small.run_until(at_s(20));
  const auto effect = small.apply(on_rnic(EffectKind::kRdmaBypass, kOn));
  small.run_until(at_s(200));
  EXPECT_THAT(report(small, kOn).counts, IsEmpty()) << "hosts do not tell unless asked for";
  const TelemetryChannelOptions told{.rdma_counters = true};
  const auto flat = report(small, kOn, told).counts;
  ASSERT_THAT(flat, SizeIs(2));
  EXPECT_GE(flat[1].at - flat[0].at, seconds(60));
  EXPECT_EQ(flat[1].sent_bytes, flat[0].sent_bytes);
  const auto moving = report(small, kPeer, told).counts;
  EXPECT_GT(moving[1].sent_bytes, moving[0].sent_bytes + 1'000'000);
}

TEST(ContainerCrash, SilencesAllRnicsOfTheContainerUntilItIsStartedAgain) {
  SmallWorld small;
  small.run_until(at_s(5));
  const auto effect = small.apply(on_rnic(EffectKind::kContainerCrash, kOn));
  const Fabric& fabric = small.world.fabric();
  for (const auto& [source, target] : small.pairs()) {
    const bool hit = fabric.host_of(target) == kHost;
    EXPECT_EQ(small.probe(source, target, small.now() + milliseconds(1)) == kNoAnswer, hit);
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-9) << "the network is well";
  }
  SimBackend backend(small.world, {});
  EndpointMap endpoints(small.world);
  Membership& members = backend.telemetry().membership;
  EXPECT_EQ(members.alive(*endpoints.endpoint(kOn), small.now()), AgentState::kDead);
  EXPECT_EQ(members.alive(*endpoints.endpoint(kPeer), small.now()), AgentState::kAlive);
  EXPECT_FALSE(small.world.container_ready(kOn));
  effect->revert(small.world);
  EXPECT_TRUE(small.world.container_ready(kOn));
  EXPECT_EQ(members.alive(*endpoints.endpoint(kOn), small.now()), AgentState::kAlive);
  EXPECT_NE(small.probe(kPeer, kOn, small.now() + milliseconds(1)), kNoAnswer);
}

}  // namespace
}  // namespace bonescan::test
