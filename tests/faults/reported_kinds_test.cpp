// The kinds that operators report: what a fault of each does to the pairs of a small world, and
// where draw() puts it.
#include "faults/kinds/fault_kind.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace bonescan::test {
namespace {

constexpr RnicId kOn(3);
constexpr RnicId kPeer(6);

/// The effects of a kind, in a world, until the end of the scope.
class Broken {
 public:
  Broken(SmallWorld& small, std::string_view kind, const KindParameters& parameters)
      : small_(&small) {
    const auto effects = effects_of_kind(kind, parameters);
    BONESCAN_CHECK(effects.has_value());
    for (const EffectSpec& effect : *effects) {
      effects_.push_back(small.apply(effect));
    }
  }

  ~Broken() {
    for (const auto& effect : effects_) {
      effect->revert(small_->world);
    }
  }

  Broken(const Broken&) = delete;
  Broken& operator=(const Broken&) = delete;

 private:
  SmallWorld* small_;
  std::vector<std::unique_ptr<Effect>> effects_;
};

struct Case {
  const char* kind;
  std::uint32_t bytes = 64;
  std::uint8_t dscp = 26;
  bool seen = true;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.kind + std::string(info.param.seen ? "" : "_unseen");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class CableKinds : public testing::TestWithParam<Case> {};

// Loss of 20 % on the way up of a cable between switches, for probes of the right size and class.
TEST_P(CableKinds, LoseOnThePairsThatCrossTheirDirectionAndNoOthers) {
  SmallWorld small;
  small.bytes = GetParam().bytes;
  small.dscp = GetParam().dscp;
  const CableId cable = small.world.fabric().fabric_cable(small.world.fabric().tor(0, 1), 1);
  KindParameters parameters;
  parameters.on = {RefKind::kCable, cable.index()};
  parameters.direction = EffectDirection::kUp;
  parameters.loss = 0.2;
  parameters.tuple_share = 1.0;
  int hit = 0;
  {
    const Broken broken(small, GetParam().kind, parameters);
    for (const auto& [source, target] : small.pairs()) {
      const int n = small.crossings(source, target, Fabric::up(cable));
      hit += n;
      EXPECT_NEAR(
          small.added_loss(source, target), GetParam().seen ? 1.0 - std::pow(0.8, n) : 0.0, 1e-5);
      EXPECT_DOUBLE_EQ(small.added_ns(source, target), 0.0);
    }
  }
  EXPECT_GT(hit, 0);
  for (const auto& [source, target] : small.pairs()) {
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Reported,
                         CableKinds,
                         testing::Values(Case{"one-way-loss"},
                                         Case{"ecmp-path-loss"},
                                         Case{"large-packet-loss", 1'025},
                                         Case{"large-packet-loss", 1'024, 26, false},
                                         Case{"dscp-loss"},
                                         Case{"dscp-loss", 64, 0, false}),
                         name_of);

class RnicKinds : public testing::TestWithParam<Case> {};

TEST_P(RnicKinds, SilenceAllPairsOfTheirRnicAndNoOthers) {
  SmallWorld small;
  small.bytes = GetParam().bytes;
  KindParameters parameters;
  parameters.on = {RefKind::kRnic, kOn.index()};
  const Broken broken(small, GetParam().kind, parameters);
  for (const auto& [source, target] : small.pairs()) {
    const bool hit = GetParam().seen && (source == kOn || target == kOn);
    EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Reported,
                         RnicKinds,
                         testing::Values(Case{"mtu-blackhole", 1'399},
                                         Case{"mtu-blackhole", 1'398, 26, false},
                                         Case{"vni-mismatch"},
                                         Case{"tunnel-checksum"},
                                         Case{"spoof-check"},
                                         Case{"gid-holes", 64, 26, false},
                                         Case{"pcie-width-loss", 64, 26, false}),
                         name_of);

class TunnelKinds : public testing::TestWithParam<Case> {};

TEST_P(TunnelKinds, SilenceThePairsBetweenTheHostAndThePeerAndNoOthers) {
  SmallWorld small;
  const Fabric& fabric = small.world.fabric();
  KindParameters parameters;
  parameters.on = {RefKind::kRnic, kOn.index()};
  parameters.peer = kPeer;
  const Broken broken(small, GetParam().kind, parameters);
  for (const auto& [source, target] : small.pairs()) {
    const HostId host = fabric.host_of(kOn);
    const bool hit = (fabric.host_of(source) == host && target == kPeer) ||
                     (fabric.host_of(target) == host && source == kPeer);
    EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Reported,
                         TunnelKinds,
                         testing::Values(Case{"neighbour-missing"},
                                         Case{"neighbour-stale"},
                                         Case{"route-missing"}),
                         name_of);

TEST(SilentBlackhole, SilencesSomeFiveTuplesThroughItsSwitchAndLeavesItUp) {
  SmallWorld small;
  const SwitchId tor = small.world.fabric().tor(0, 1);
  KindParameters parameters;
  parameters.on = {RefKind::kSwitch, tor.index()};
  const Broken broken(small, "silent-blackhole", parameters);
  small.run_for(std::chrono::seconds(30));
  int silent = 0;
  int healthy = 0;
  for (std::uint16_t port = 50'000; port < 50'100; ++port) {
    small.port = port;
    const double through = small.added_loss(RnicId(1), RnicId(7));
    EXPECT_TRUE(through > 0.99 || through < 1e-9);
    (through > 0.99 ? silent : healthy) += 1;
    EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(6)), 0.0, 1e-9);
  }
  // Half of the five-tuples each way: three quarters of round trips.
  EXPECT_GT(silent, 50);
  EXPECT_GT(healthy, 5);
}

TEST(EswitchFull, SlowsTheNewestPairsOfItsRnicAndLosesNothing) {
  SmallWorld small;
  const auto probe_all = [&](Time until) {
    while (small.now() < until) {
      for (const RnicId peer : {RnicId(4), RnicId(5), RnicId(6)}) {
        EXPECT_NE(small.probe(peer, kOn, small.now() + std::chrono::milliseconds(100)), kNoAnswer);
      }
    }
  };
  probe_all(at_s(10));
  KindParameters parameters;
  parameters.on = {RefKind::kRnic, kOn.index()};
  parameters.entries = 2;
  const Broken broken(small, "eswitch-full", parameters);
  probe_all(at_s(20));
  int late = 0;
  for (const RnicId peer : {RnicId(4), RnicId(5), RnicId(6)}) {
    EXPECT_NEAR(small.added_loss(peer, kOn), 0.0, 1e-12);
    late += small.added_ns(peer, kOn) >= 52'000.0 ? 1 : 0;
  }
  EXPECT_GE(late, 1);
  EXPECT_LT(late, 3);
}

WorldOptions bonded() {
  WorldOptions options = small_world_options();
  options.fabric.bond_members = 2;
  return options;
}

// Hosts leave a dead member after 100 ms, others after 300 ms.
TEST(LagMemberDown, IsSeenForThreeHundredMillisecondsByThePairsThatHashToIt) {
  SmallWorld small(bonded());
  small.run_until(at_s(10));
  KindParameters parameters;
  parameters.on = {RefKind::kPort, small.world.fabric().access_cable(kOn, 1).index()};
  const Broken broken(small, "lag-member-down", parameters);
  const auto count_silent = [&] {
    int silent = 0;
    for (std::uint16_t port = 50'000; port < 50'100; ++port) {
      small.port = port;
      silent += small.added_loss(kOn, RnicId(7)) > 0.99 ? 1 : 0;
    }
    return silent;
  };
  const int at_once = count_silent();
  EXPECT_GT(at_once, 50) << "three of four round trips hash to the member, one way or the other";
  EXPECT_LT(at_once, 95);
  small.run_for(std::chrono::milliseconds(200));
  EXPECT_LT(count_silent(), at_once) << "its own host has left it";
  small.run_for(std::chrono::milliseconds(200));
  EXPECT_EQ(count_silent(), 0);
}

TEST(LaneDowngrade, LeavesItsShareOfTheRateAndNothingElseToSee) {
  SmallWorld small;
  KindParameters parameters;
  parameters.on = {RefKind::kCable, 3};
  parameters.rate_left = 0.25;
  const Broken broken(small, "lane-downgrade", parameters);
  EXPECT_EQ(small.world.links().capacity_ratio(Fabric::up(CableId(3))), 0.25);
  for (const auto& [source, target] : small.pairs()) {
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-12);
    EXPECT_DOUBLE_EQ(small.added_ns(source, target), 0.0);
  }
}

TEST(OpticsDegrading, IsUnseenUntilTheCliffAndGrayBehindIt) {
  SmallWorld small;
  const CableId cable = small.world.fabric().access_cable(kOn);
  KindParameters parameters;
  parameters.on = {RefKind::kCable, cable.index()};
  const Broken broken(small, "optics-degrading", parameters);
  small.run_for(std::chrono::seconds(30));
  EXPECT_LT(small.added_loss(kOn, RnicId(7)), 1e-6);
  small.run_for(std::chrono::seconds(31));
  // 15.2 % of the frames at 2e-3, each way.
  EXPECT_NEAR(small.added_loss(kOn, RnicId(7)), 1.0 - std::pow(1.0 - 0.1525, 2), 1e-3);
  EXPECT_NEAR(small.added_loss(RnicId(2), RnicId(7)), 0.0, 1e-9);
}

WorldOptions dual_tor() {
  WorldOptions options = small_world_options();
  options.fabric.preset = FabricPreset::kHpn;
  return options;
}

// Hosts leave the dead ToR after 100 ms, others after 300 ms; then the other plane has all.
TEST(DualTorSwitchover, IsSeenUntilEverybodyUsesTheOtherPlane) {
  SmallWorld small(dual_tor());
  small.run_until(at_s(10));
  const Fabric& fabric = small.world.fabric();
  KindParameters parameters;
  parameters.on = {RefKind::kSwitch, fabric.tor_of(kOn, 1).index()};
  const Broken broken(small, "dual-tor-switchover", parameters);
  const auto count_silent = [&](RnicId source, RnicId target) {
    int silent = 0;
    for (std::uint16_t port = 50'000; port < 50'100; ++port) {
      small.port = port;
      silent += small.added_loss(source, target) > 0.99 ? 1 : 0;
    }
    return silent;
  };
  EXPECT_GT(count_silent(kOn, RnicId(7)), 30) << "of the plane of the ToR";
  EXPECT_EQ(count_silent(RnicId(2), RnicId(6)), 0) << "another rail";
  small.run_for(std::chrono::seconds(1));
  EXPECT_EQ(count_silent(kOn, RnicId(7)), 0);
}

}  // namespace
}  // namespace bonescan::test
