// Every named kind finds a place in a world that has what it needs, and its effects follow.
#include "faults/effects/effect.h"
#include "faults/kinds/fault_kind.h"
#include "faults/kinds/fault_site.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>

namespace bonescan::test {
namespace {

constexpr std::uint64_t kSeeds = 300;

RngStream stream_of(std::uint64_t seed) {
  return {seed, Purpose::kFailurePlace, 0};
}

/// A world that fulfils the needs of every kind.
WorldOptions generous() {
  WorldOptions options = small_world_options();
  options.fabric.preset = FabricPreset::kHpn;
  options.fabric.aggregation_switches = 4;
  options.load.model = LoadModel::kLinks;
  return options;
}

bool holds(std::span<const CableId> cables, std::uint32_t index) {
  return std::ranges::find(cables, CableId(index)) != cables.end();
}

/// Does a job use the component?
bool is_used(const FaultSite& site, const ComponentRef& on) {
  switch (on.kind) {
    case RefKind::kRnic:
      return std::ranges::find(site.rnics(), on.rnic()) != site.rnics().end();
    case RefKind::kHost:
      return std::ranges::find(site.hosts(), on.host()) != site.hosts().end();
    case RefKind::kCable:
    case RefKind::kPort:
      return holds(site.access_cables(), on.index) || holds(site.fabric_cables(), on.index);
    case RefKind::kSwitch:
      return std::ranges::find(site.tors(), on.switch_id()) != site.tors().end() ||
             std::ranges::find(site.spines(), on.switch_id()) != site.spines().end();
    case RefKind::kOvs:
    case RefKind::kAgent:
      return std::ranges::find(site.hosts(), on.host()) != site.hosts().end();
  }
  return false;
}

TEST(KindDraws, FindAPlaceThatJobsUseAndEffectsThatFit) {
  const SmallWorld small(generous());
  const FaultSite site(small.world);
  for (const FaultKind& kind : fault_kinds()) {
    SCOPED_TRACE(kind.name);
    std::set<ComponentRef> places;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto drawn = kind.draw(site, stream_of(seed));
      ASSERT_TRUE(drawn.has_value()) << "seed=" << seed;
      EXPECT_TRUE(is_used(site, drawn->on)) << "seed=" << seed;
      places.insert(drawn->on);
      const auto effects = effects_of_kind(kind.name, *drawn);
      ASSERT_TRUE(effects.has_value()) << "seed=" << seed << " " << effects.error().detail;
      ASSERT_FALSE(effects->empty());
      for (const EffectSpec& effect : *effects) {
        EXPECT_TRUE(make_effect(effect).has_value()) << "seed=" << seed;
      }
    }
    EXPECT_GT(places.size(), 2u) << "it strikes in one place only";
  }
}

TEST(KindDraws, OfEqualSeedsAreEqual) {
  const SmallWorld small(generous());
  const FaultSite site(small.world);
  for (const FaultKind& kind : fault_kinds()) {
    SCOPED_TRACE(kind.name);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto first = kind.draw(site, stream_of(seed));
      const auto second = kind.draw(site, stream_of(seed));
      EXPECT_EQ(first->on, second->on);
      EXPECT_EQ(first->loss, second->loss);
      EXPECT_EQ(first->down, second->down);
      EXPECT_EQ(first->pages, second->pages);
    }
  }
}

TEST(KindDraws, FindNoPlaceWhereTheWorldHasNotWhatTheyNeed) {
  const SmallWorld plain;
  const FaultSite site(plain.world);
  for (const FaultKind& kind : fault_kinds()) {
    SCOPED_TRACE(kind.name);
    // What a kind needs may also be what makes it seen.
    EXPECT_TRUE(kind.draw(site, stream_of(1)).has_value() || !kind.needs.empty());
  }
  WorldOptions nobody = small_world_options();
  nobody.jobs.clear();
  const SmallWorld empty(nobody);
  const FaultSite nowhere(empty.world);
  for (const FaultKind& kind : fault_kinds()) {
    EXPECT_FALSE(kind.draw(nowhere, stream_of(1)).has_value()) << kind.name;
  }
}

// Access cables are more than those between switches, and both sorts are drawn equally often.
TEST(KindDraws, OfCablesTossAFairCoinForTheSort) {
  const SmallWorld small(generous());
  const FaultSite site(small.world);
  for (const char* name : {"switch-port-down", "switch-port-flapping"}) {
    int access = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const auto drawn = find_fault_kind(name)->draw(site, stream_of(seed));
      access += small.world.fabric().is_access(drawn->on.cable()) ? 1 : 0;
    }
    // Five standard deviations of a fair coin.
    EXPECT_NEAR(access, kSeeds / 2.0, 45.0) << name;
  }
}

TEST(KindDraws, StayWithinTheirDeclaredRanges) {
  const SmallWorld small(generous());
  const FaultSite site(small.world);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const auto crc = find_fault_kind("crc-error")->draw(site, stream_of(seed));
    EXPECT_GE(crc->loss, 0.005);
    EXPECT_LE(crc->loss, 0.2);
    for (const char* name : {"switch-port-flapping", "rnic-port-flapping"}) {
      const auto flap = find_fault_kind(name)->draw(site, stream_of(seed));
      EXPECT_GE(flap->down, std::chrono::milliseconds(500));
      EXPECT_LE(flap->down, std::chrono::seconds(3));
      EXPECT_GE(flap->up, std::chrono::seconds(5));
      EXPECT_LE(flap->up, std::chrono::seconds(30));
    }
    const auto order = find_fault_kind("suboptimal-flow-offloading")->draw(site, stream_of(seed));
    EXPECT_GE(order->flow_share, 0.25);
    EXPECT_LE(order->flow_share, 1.0);
    const auto stall = find_fault_kind("rnic-firmware-stall")->draw(site, stream_of(seed));
    EXPECT_GE(stall->flow_share, 0.2);
    EXPECT_LE(stall->flow_share, 0.6);
    EXPECT_GE(stall->delay, std::chrono::microseconds(20));
    EXPECT_LE(stall->delay, std::chrono::microseconds(500));
    const auto churn = find_fault_kind("repetitive-flow-offloading")->draw(site, stream_of(seed));
    for (const Duration turn : {churn->down, churn->up}) {
      EXPECT_GE(turn, std::chrono::milliseconds(500));
      EXPECT_LE(turn, std::chrono::seconds(5));
    }
    const auto pool = find_fault_kind("hugepage-mismatch")->draw(site, stream_of(seed));
    EXPECT_GE(pool->pages, 1u);
    EXPECT_LE(pool->pages, small.world.devices().hugepages_expected() / 2);
  }
}

}  // namespace
}  // namespace bonescan::test
