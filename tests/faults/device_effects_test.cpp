// gid.*, pcie.width and hugepages.set: what probes see of them, and what the host says.
#include "model/backend_sim/sim_backend.h"
#include "tests/support/small_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace bonescan::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::SizeIs;

constexpr HostId kHost(1);
constexpr RnicId kOn(3);    // of host 1, rail 1
constexpr RnicId kPeer(5);  // of host 2, the same rail

EffectSpec missing(MissingGids gids) {
  EffectSpec spec = on_rnic(EffectKind::kGidMissing, kOn);
  spec.missing = gids;
  return spec;
}

EffectSpec lanes(RnicId rnic, std::uint32_t count) {
  EffectSpec spec = on_rnic(EffectKind::kPcieWidth, rnic);
  spec.lanes = count;
  return spec;
}

EffectSpec hugepages(std::uint32_t pages) {
  EffectSpec spec;
  spec.kind = EffectKind::kHugepages;
  spec.on = {RefKind::kHost, kHost.index()};
  spec.pages = pages;
  return spec;
}

/// What the host of an RNIC says now.
HostReport report(SmallWorld& small, RnicId rnic) {
  SimBackend backend(small.world, {});
  EndpointMap endpoints(small.world);
  const auto found =
      backend.telemetry().hosts->inspect(*endpoints.endpoint(rnic), small.engine.now());
  BONESCAN_CHECK(found.has_value());
  return *found;
}

/// Where each address stands, by its text and type.
std::map<std::pair<std::string, std::string>, std::uint32_t> places(const HostReport& report) {
  std::map<std::pair<std::string, std::string>, std::uint32_t> found;
  for (const GidRow& row : *report.gids) {
    found[{row.gid, row.type}] = row.index;
  }
  return found;
}

void expect_silent(SmallWorld& small, bool silent) {
  for (const auto& [source, target] : small.pairs()) {
    const bool hit = silent && (source == kOn || target == kOn);
    EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5);
    EXPECT_EQ(small.probe(source, target, small.now() + milliseconds(1)) == kNoAnswer, hit)
        << source.index() << " -> " << target.index();
  }
}

TEST(GidEffect, SilencesTheRnicUntilItsProcessLooksTheAddressUpAgain) {
  struct Case {
    const char* name;
    EffectSpec spec;
    bool found_again;  ///< by a process that starts anew
  };
  for (const Case& c : {Case{"moved", on_rnic(EffectKind::kGidReregister, kOn), true},
                        Case{"no RoCE v2", missing(MissingGids::kRoceV2), false},
                        Case{"link-local only", missing(MissingGids::kIpv4), false}}) {
    SCOPED_TRACE(c.name);
    SmallWorld small;
    small.run_until(at_s(5));
    expect_silent(small, false);
    const auto effect = small.apply(c.spec);
    expect_silent(small, true);
    small.world.stop_agent(kHost);
    small.world.start_agent(kHost);
    expect_silent(small, !c.found_again);
    effect->revert(small.world);
    expect_silent(small, false);
  }
}

TEST(GidEffect, LeavesTheLinkUpAndTheTablesAsTheyAre) {
  SmallWorld small;
  small.run_until(at_s(5));
  const RnicId peer(4);  // Another rail: the job sends nothing between the two.
  const HostReport before = report(small, kOn);
  const auto effect = small.apply(on_rnic(EffectKind::kGidReregister, kOn));
  EXPECT_EQ(small.probe(kOn, peer, at_s(6)), kNoAnswer);
  const FlowQuad& quad = small.world.flows()[*small.world.flows().find(kOn, peer)];
  const std::size_t end = quad.end_of(kOn);
  EXPECT_EQ(quad.encap[end].hits, 0u) << "no flow has such an address";
  EXPECT_EQ(quad.vf_drops[end], 0) << "and no spoof check speaks";
  const HostReport after = report(small, kOn);
  EXPECT_EQ(after.port->state, "ACTIVE");
  const auto was = places(before);
  const auto is = places(after);
  ASSERT_EQ(was.size(), is.size());
  int moved = 0;
  for (const auto& [address, index] : was) {
    ASSERT_EQ(is.count(address), 1u) << address.first;
    moved += is.at(address) != index ? 1 : 0;
  }
  EXPECT_GE(moved, 1);
}

TEST(GidEffect, OfASparseTableIsSeenByItsHostAlone) {
  SmallWorld small;
  small.run_until(at_s(5));
  const auto gaps = [&] {
    const HostReport says = report(small, kOn);
    int found = 0;
    for (std::size_t i = 1; i < says.gids->size(); ++i) {
      found += (*says.gids)[i].index > (*says.gids)[i - 1].index + 1 ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(gaps(), 0);
  const auto effect = small.apply(on_rnic(EffectKind::kGidSparse, kOn));
  EXPECT_EQ(gaps(), 1);
  expect_silent(small, false);
  effect->revert(small.world);
  EXPECT_EQ(gaps(), 0);
}

// Eight lanes of the fifth generation carry 229 Gb/s: 57 % of the port.
TEST(PcieWidth, MakesProbesLateOnlyUnderLoadThatTheSlotCannotCarry) {
  struct Case {
    double share;
    bool late;
  };
  for (const Case& c : {Case{0.2, false}, Case{0.8, true}}) {
    SCOPED_TRACE(c.share);
    SmallWorld narrow(loaded_world_options(c.share));
    SmallWorld twin(loaded_world_options(c.share));
    const auto effect = narrow.apply(lanes(RnicId(0), 8));
    for (SmallWorld* small : {&narrow, &twin}) {
      small->run_until(at_s(2));
    }
    EXPECT_EQ(narrow.mean_ns(RnicId(2), RnicId(0)), twin.mean_ns(RnicId(2), RnicId(0)))
        << "idle: nothing to see";
    for (SmallWorld* small : {&narrow, &twin}) {
      small->run_until(at_s(12));
    }
    const double usual_ns = twin.mean_ns(RnicId(2), RnicId(0));
    const double narrow_ns = narrow.mean_ns(RnicId(2), RnicId(0));
    if (c.late) {
      EXPECT_GT(narrow_ns, usual_ns + 1'000.0);
    } else {
      EXPECT_NEAR(narrow_ns, usual_ns, 0.05 * usual_ns);
    }
    effect->revert(narrow.world);
    EXPECT_EQ(narrow.mean_ns(RnicId(6), RnicId(0)), twin.mean_ns(RnicId(6), RnicId(0)));
  }
}

TEST(PcieWidth, IsSeenByItsHostAlone) {
  SmallWorld small;
  small.run_until(at_s(5));
  EXPECT_EQ(report(small, kOn).pcie, (PcieLink{16, 16, 32.0, 32.0}));
  const auto first = small.apply(lanes(kOn, 8));
  const auto second = small.apply(lanes(kOn, 4));
  EXPECT_EQ(report(small, kOn).pcie, (PcieLink{4, 16, 32.0, 32.0})) << "the worst counts";
  expect_silent(small, false);
  second->revert(small.world);
  EXPECT_EQ(report(small, kOn).pcie->width, 8u);
  first->revert(small.world);
  EXPECT_EQ(report(small, kOn).pcie->width, 16u);
  const CableId cable = small.world.fabric().access_cable(kOn);
  EXPECT_EQ(small.world.links().capacity_ratio(Fabric::up(cable)), 1.0);
}

// 256 pages are configured, two processes hold 64 each.  100 are enough for one of them.
TEST(HugepagesEffect, HurtsWhoeverStartsAndNobodyWhoRuns) {
  SmallWorld small;
  small.run_until(at_s(5));
  const auto effect = small.apply(hugepages(100));
  EXPECT_TRUE(small.world.agent_running(RnicId(2)));
  EXPECT_TRUE(small.world.agent_running(kOn));
  small.world.stop_agent(kHost);
  small.world.start_agent(kHost);
  EXPECT_TRUE(small.world.agent_running(RnicId(2)));
  EXPECT_FALSE(small.world.agent_running(kOn)) << "36 pages are left for it";
  EXPECT_EQ(small.probe(kPeer, kOn, at_s(6)), kNoAnswer);
  effect->revert(small.world);
  EXPECT_TRUE(small.world.agent_running(kOn)) << "whoever waited for memory starts";
  EXPECT_NE(small.probe(kPeer, kOn, at_s(7)), kNoAnswer);
}

TEST(HugepagesEffect, IsSeenByItsHostAlone) {
  SmallWorld small;
  small.run_until(at_s(5));
  EXPECT_THAT(report(small, kOn).hugepages, SizeIs(1));
  EXPECT_EQ(report(small, kOn).hugepages[0], (HugepagePool{2'097'152, 256, 128, 256}));
  const auto effect = small.apply(hugepages(100));
  EXPECT_EQ(report(small, kOn).hugepages[0], (HugepagePool{2'097'152, 100, 0, 256}));
  expect_silent(small, false);
}

}  // namespace
}  // namespace bonescan::test
