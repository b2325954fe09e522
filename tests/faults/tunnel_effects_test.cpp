// tunnel.* and vf.spoof_drop: what probes see of them, and what an operator does.
#include "model/backend_sim/sim_backend.h"
#include "tests/support/small_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace bonescan::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr RnicId kOn(3);    // host 1, rail 1
constexpr RnicId kPeer(5);  // host 2

EffectSpec tunnel(EffectKind kind) {
  EffectSpec spec = on_rnic(kind, kOn);
  if (kind == EffectKind::kTunnelRoute || kind == EffectKind::kTunnelNeighbour) {
    spec.peer = kPeer;
  }
  return spec;
}

EffectSpec stale_neighbour() {
  EffectSpec spec = tunnel(EffectKind::kTunnelNeighbour);
  spec.neighbour = NeighbourState::kStale;
  return spec;
}

/// A probe needs both ways, so what breaks one way silences both probing directions.
TEST(TunnelEffect, SilencesExactlyThePairsWhosePacketsMeetTheState) {
  using OneWay = std::function<bool(const Fabric&, RnicId, RnicId)>;
  // Routes and neighbours belong to the host: both of its RNICs use them.
  const OneWay host_to_peer = [](const Fabric& fabric, RnicId source, RnicId target) {
    return fabric.host_of(source) == HostId(1) && target == kPeer;
  };
  const OneWay from = [](const Fabric&, RnicId source, RnicId) { return source == kOn; };
  struct Case {
    const char* name;
    EffectSpec spec;
    OneWay one_way;
  };
  for (const Case& c : {Case{"no route", tunnel(EffectKind::kTunnelRoute), host_to_peer},
                        Case{"no neighbour", tunnel(EffectKind::kTunnelNeighbour), host_to_peer},
                        Case{"stale neighbour", stale_neighbour(), host_to_peer},
                        Case{"VNI", tunnel(EffectKind::kTunnelVni), from},
                        Case{"checksum", tunnel(EffectKind::kTunnelChecksum), from},
                        Case{"spoof", tunnel(EffectKind::kSpoofDrop), from}}) {
    SCOPED_TRACE(c.name);
    SmallWorld small;
    const Fabric& fabric = small.world.fabric();
    small.run_until(at_s(5));
    const auto effect = small.apply(c.spec);
    small.run_for(milliseconds(600));  // The job's own flows are warm: a sweep.
    std::int64_t ms = 5'600;
    for (const auto& [source, target] : small.pairs()) {
      const bool hit = c.one_way(fabric, source, target) || c.one_way(fabric, target, source);
      EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5)
          << source.index() << " -> " << target.index();
      EXPECT_EQ(small.probe(source, target, at_ms(++ms)) == kNoAnswer, hit)
          << source.index() << " -> " << target.index();
    }
    effect->revert(small.world);
    small.run_for(milliseconds(600));
    for (const auto& [source, target] : small.pairs()) {
      EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-9);
    }
  }
}

/// An installed megaflow keeps its actions until the revalidator (every 500 ms) has compared them.
TEST(TunnelEffect, ReachesAWarmFlowWithTheNextSweep) {
  for (const EffectSpec& spec : {tunnel(EffectKind::kTunnelRoute),
                                 tunnel(EffectKind::kTunnelNeighbour),
                                 stale_neighbour(),
                                 tunnel(EffectKind::kTunnelVni)}) {
    SCOPED_TRACE(effect_name(spec.kind));
    SmallWorld small;
    const Time sweep = small.world.clocks(kOn).sweeps.at_or_before(at_s(20));
    small.keep_probing(kOn, kPeer, milliseconds(100), sweep);
    small.run_until(sweep + milliseconds(100));
    const auto effect = small.apply(spec);
    for (const int ms : {101, 200, 499}) {
      EXPECT_NE(small.probe(kOn, kPeer, sweep + milliseconds(ms)), kNoAnswer);
    }
    for (const int ms : {501, 900}) {
      EXPECT_EQ(small.probe(kOn, kPeer, sweep + milliseconds(ms)), kNoAnswer);
      EXPECT_NEAR(small.added_loss(kOn, kPeer), 1.0, 1e-5);
    }
    effect->revert(small.world);
    EXPECT_NE(small.probe(kOn, kPeer, sweep + milliseconds(1'600)), kNoAnswer);
  }
}

/// Ports act on packets, not on megaflows: at once.
TEST(PortEffect, ReachesAWarmFlowAtOnce) {
  for (const EffectKind kind : {EffectKind::kTunnelChecksum, EffectKind::kSpoofDrop}) {
    SmallWorld small;
    small.keep_probing(kOn, kPeer, milliseconds(100), at_s(20));
    const auto effect = small.apply(tunnel(kind));
    EXPECT_EQ(small.probe(kOn, kPeer, at_ms(20'001)), kNoAnswer);
    effect->revert(small.world);
    EXPECT_NE(small.probe(kOn, kPeer, at_ms(20'002)), kNoAnswer);
  }
}

// 1,500 bytes of outer packet leave 1,450 to the inner one and 1,398 to the probe's payload.
TEST(TunnelMtu, LosesLargeProbesAndPassesSmallOnes) {
  SmallWorld small;
  EffectSpec spec = tunnel(EffectKind::kTunnelMtu);
  spec.mtu = 1'500;
  const auto effect = small.apply(spec);
  struct Case {
    std::uint32_t bytes;
    bool lost;
  };
  for (const Case& c :
       {Case{64, false}, Case{1'398, false}, Case{1'399, true}, Case{4'096, true}}) {
    small.bytes = c.bytes;
    for (const auto& [source, target] : small.pairs()) {
      const bool touched = source == kOn || target == kOn;
      EXPECT_NEAR(small.added_loss(source, target), c.lost && touched ? 1.0 : 0.0, 1e-5) << c.bytes;
    }
  }
  effect->revert(small.world);
  EXPECT_NEAR(small.added_loss(kOn, kPeer), 0.0, 1e-12);
}

TEST(SpoofDrop, CountsAtTheVirtualFunctionAndReachesNoBridge) {
  SmallWorld small;
  const RnicId peer(4);  // Another rail: the job sends nothing between the two.
  const auto effect = small.apply(tunnel(EffectKind::kSpoofDrop));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(small.probe(kOn, peer, at_s(20 + i)), kNoAnswer);
  }
  EXPECT_EQ(small.probe(peer, kOn, at_s(25)), kNoAnswer) << "the answer does not leave";
  const FlowQuad& quad = small.world.flows()[*small.world.flows().find(kOn, peer)];
  const std::size_t end = quad.end_of(kOn);
  EXPECT_EQ(quad.vf_drops[end], 4);
  EXPECT_EQ(quad.vf_drops[1 - end], 0);
  EXPECT_EQ(quad.encap[end].hits, 0u);
  EXPECT_EQ(quad.decap[end].hits, 1u) << "what it receives passes";
}

/// What an operator sees of kOn's flow to kPeer 2 s after the effect.
struct Views {
  OverlayWalk walk;
  std::string culprit;
  FlowTableRow row;
};

Views views_with(const EffectSpec& spec) {
  SmallWorld small;
  SimBackend backend(small.world, {});
  const auto source = backend.endpoints().endpoint(kOn);
  const auto target = backend.endpoints().endpoint(kPeer);
  BONESCAN_CHECK(source && target);
  small.keep_probing(kOn, kPeer, milliseconds(100), at_s(20));
  const auto effect = small.apply(spec);
  small.keep_probing(kOn, kPeer, milliseconds(100), at_s(22));
  const FlowKey flow{.source = *source, .target = *target, .source_port = small.port};
  Telemetry telemetry = backend.telemetry();
  Views views;
  views.walk = *telemetry.overlay.walk(flow, at_s(22));
  if (views.walk.culprit.valid()) {
    views.culprit = telemetry.components[views.walk.culprit].name;
  }
  views.row = telemetry.tables.dump(*source, std::span(&flow, 1), at_s(22))->rows.at(0);
  return views;
}

TEST(TunnelViews, WalkEndsWhereTheTunnelBreaks) {
  struct Case {
    EffectSpec spec;
    WalkEnd end;
    const char* culprit;
    const char* reason;
    const char* actions;  ///< of the megaflow, and what is expected of it
  };
  for (const Case& c : {Case{tunnel(EffectKind::kTunnelRoute),
                             WalkEnd::kNoNextHop,
                             "host-0.01/br-int",
                             "native tunnel routing failed",
                             "drop"},
                        Case{tunnel(EffectKind::kTunnelNeighbour),
                             WalkEnd::kMissingNeighbour,
                             "host-0.01/br-int",
                             "neighbor cache miss",
                             "drop"},
                        Case{tunnel(EffectKind::kTunnelVni),
                             WalkEnd::kNoNextHop,
                             "host-0.01/br-int table=0 in_port=vf-1",
                             "into VNI 101",
                             "set(tunnel(tun_id=101,"}}) {
    SCOPED_TRACE(effect_name(c.spec.kind));
    const Views views = views_with(c.spec);
    EXPECT_EQ(views.walk.end, c.end);
    EXPECT_EQ(views.culprit, c.culprit);
    EXPECT_THAT(views.walk.reason, HasSubstr(c.reason));
    EXPECT_THAT(views.row.datapath.actions, HasSubstr(c.actions));
    EXPECT_EQ(views.row.expected_actions, views.row.datapath.actions) << "tables agree";
  }
}

TEST(TunnelViews, NothingShowsWhatTheTraceCannotKnow) {
  for (const EffectSpec& spec : {stale_neighbour(),
                                 tunnel(EffectKind::kTunnelChecksum),
                                 tunnel(EffectKind::kSpoofDrop),
                                 tunnel(EffectKind::kTunnelMtu)}) {
    SCOPED_TRACE(effect_name(spec.kind));
    const Views views = views_with(spec);
    EXPECT_EQ(views.walk.end, WalkEnd::kDelivered);
    EXPECT_EQ(views.walk.reason, "");
    EXPECT_EQ(views.row.expected_actions, views.row.datapath.actions);
  }
}

}  // namespace
}  // namespace bonescan::test
