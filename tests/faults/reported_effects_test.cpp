// What operators report beside: a switch that drops, a cable that is slower than it says, optics
// that get worse.  Measured on loss ratios of paths and on single probes.
#include "model/fabric/link_physics.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace bonescan::test {
namespace {

using std::chrono::milliseconds;

EffectSpec on_switch(EffectKind kind, SwitchId id) {
  EffectSpec spec;
  spec.kind = kind;
  spec.on = {RefKind::kSwitch, id.index()};
  return spec;
}

/// How often the round trip of a pair goes through a switch.
int crossings(const SmallWorld& small, RnicId source, RnicId target, SwitchId id) {
  const Fabric& fabric = small.world.fabric();
  const ProbePath path = resolve_path(small.world, small.spec(source, target));
  int count = 0;
  for (const LinkPath* way : {&path.request, &path.answer}) {
    // Every switch on the way is at the end of one link: all but the last link end at one.
    for (const LinkId link : way->span().first(way->count - 1)) {
      const CableId cable = Fabric::cable_of(link);
      const SwitchId end =
          Fabric::is_up(link) ? fabric.upper_switch(cable) : fabric.lower_switch(cable);
      count += end == id ? 1 : 0;
    }
  }
  return count;
}

TEST(SwitchLoss, MultipliesOverTheCrossingsOfTheSwitch) {
  SmallWorld small;
  const Fabric& fabric = small.world.fabric();
  for (const SwitchId id : {fabric.tor(0, 1), fabric.aggregation(0)}) {
    EffectSpec spec = on_switch(EffectKind::kSwitchLoss, id);
    spec.ratio = 0.1;
    const auto effect = small.apply(spec);
    int most = 0;
    for (const auto& [source, target] : small.pairs()) {
      const int n = crossings(small, source, target, id);
      most = std::max(most, n);
      EXPECT_NEAR(small.added_loss(source, target), 1.0 - std::pow(0.9, n), 1e-5);
      EXPECT_DOUBLE_EQ(small.added_ns(source, target), 0.0);
    }
    EXPECT_EQ(most, 2);
    // Nobody routes around: the groups are as before, and so is everything once it ends.
    small.run_for(std::chrono::seconds(10));
    EXPECT_FALSE(small.world.links().any_excluded());
    effect->revert(small.world);
    for (const auto& [source, target] : small.pairs()) {
      EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-12);
    }
  }
}

// Of 400 source ports the request crosses the ToR with a flow of its own, and so does the answer:
// lost with 1 - 0.7^2 = 0.51, so 204 of 400, standard deviation 10, bound four of them.
TEST(SwitchLoss, OfAShareOfFlowsIsAllOrNothing) {
  SmallWorld small;
  EffectSpec spec = on_switch(EffectKind::kSwitchLoss, small.world.fabric().tor(0, 1));
  spec.ratio = 1.0;
  spec.packets.flow_share = 0.3;
  const auto effect = small.apply(spec);
  int hit = 0;
  for (std::uint16_t port = 50'000; port < 50'400; ++port) {
    small.port = port;
    const double found = small.added_loss(RnicId(1), RnicId(3));
    EXPECT_TRUE(found > 0.99 || found < 1e-9);
    EXPECT_EQ(small.probe(RnicId(1), RnicId(3), small.now() + milliseconds(1)) == kNoAnswer,
              found > 0.99);
    hit += found > 0.99 ? 1 : 0;
    EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(2)), 0.0, 1e-9) << "another ToR";
  }
  EXPECT_NEAR(hit, 204, 40);
}

TEST(LinkRate, MakesProbesLateOnlyUnderLoadThatTheCableCannotCarry) {
  struct Case {
    double share;
    bool late;
  };
  for (const Case& c : {Case{0.2, false}, Case{0.8, true}}) {
    SCOPED_TRACE(c.share);
    SmallWorld slow(loaded_world_options(c.share));
    SmallWorld twin(loaded_world_options(c.share));
    EffectSpec spec = on_cable(EffectKind::kLinkRate, slow.world.fabric().access_cable(RnicId(0)));
    spec.rate_left = 0.5;
    const auto effect = slow.apply(spec);
    for (SmallWorld* small : {&slow, &twin}) {
      small->run_until(at_s(2));
    }
    EXPECT_EQ(slow.mean_ns(RnicId(2), RnicId(0)), twin.mean_ns(RnicId(2), RnicId(0)))
        << "idle: nothing to see";
    for (SmallWorld* small : {&slow, &twin}) {
      small->run_until(at_s(12));
    }
    const double usual_ns = twin.mean_ns(RnicId(2), RnicId(0));
    const double slow_ns = slow.mean_ns(RnicId(2), RnicId(0));
    if (c.late) {
      EXPECT_GT(slow_ns, usual_ns + 1'000.0);
    } else {
      EXPECT_NEAR(slow_ns, usual_ns, 0.05 * usual_ns);
    }
    effect->revert(slow.world);
    EXPECT_EQ(slow.mean_ns(RnicId(6), RnicId(0)), twin.mean_ns(RnicId(6), RnicId(0)));
  }
}

// From 1e-5 to 1e-2 in 60 s: 1e-3 after 40 s, and 2.4e-4 after 27.6 s.
TEST(LinkBer, GrowsEvenlyInItsLogarithmUntilItsCliff) {
  SmallWorld small;
  small.run_until(at_s(10));
  EffectSpec spec = on_cable(EffectKind::kLinkBer, CableId(3));
  spec.direction = EffectDirection::kUp;
  spec.ber_from = 1e-5;
  spec.ber = 1e-2;
  spec.over = std::chrono::seconds(60);
  const auto effect = small.apply(spec);
  double before = 0.0;
  for (std::int64_t second = 0; second <= 70; ++second) {
    SCOPED_TRACE(second);
    small.run_until(at_s(10 + second) + milliseconds(1));
    const double now = small.added_loss(RnicId(3), RnicId(0));
    EXPECT_GE(now, before - 1e-12);
    before = now;
    // One step of 60 s / 64 back at most, and never ahead.
    const auto lost = [](double s) {
      return link_quality(1e-5 * std::pow(1e3, std::clamp(s, 0.0, 60.0) / 60.0), 1'024, false)
          .loss_ratio;
    };
    EXPECT_LE(now, lost(static_cast<double>(second) + 0.01) + 1e-4);
    EXPECT_GE(now, lost(static_cast<double>(second) - 1.0) - 1e-4);
    if (second < 27) {
      EXPECT_LT(now, 1e-9) << "corrected";
    }
  }
  EXPECT_NEAR(before, 1.0, 1e-4);
  EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(4)), 0.0, 1e-9);
  effect->revert(small.world);
  EXPECT_NEAR(small.added_loss(RnicId(3), RnicId(0)), 0.0, 1e-12);
  const auto again = small.apply(spec);
  small.run_for(std::chrono::seconds(20));
  again->revert(small.world);
  small.run_for(std::chrono::seconds(60));
  EXPECT_NEAR(small.added_loss(RnicId(3), RnicId(0)), 0.0, 1e-12) << "no step after the end";
}

EffectSpec storm(SmallWorld& small, double paused) {
  EffectSpec spec = on_cable(EffectKind::kPauseStorm, small.world.fabric().access_cable(RnicId(0)));
  spec.direction = EffectDirection::kDown;
  spec.paused = paused;
  return spec;
}

// 65,535 quanta of 512 bits at 400 Gb/s are 83.9 us.
TEST(PauseStorm, HoldsWhatGoesToItsEndForHalfOfAPauseInTheMean) {
  SmallWorld small;
  small.run_until(at_s(5));
  const LinkId held = Fabric::down(small.world.fabric().access_cable(RnicId(0)));
  const auto effect = small.apply(storm(small, 0.8));
  for (const auto& [source, target] : small.pairs()) {
    const int n = small.crossings(source, target, held);
    EXPECT_NEAR(small.added_ns(source, target), n * 0.8 * 0.5 * 83'884.8, 1.0);
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-12);
  }
  EXPECT_GT(small.probe(RnicId(2), RnicId(0), at_ms(5'001)), 40'000u);
  effect->revert(small.world);
  EXPECT_EQ(small.added_ns(RnicId(2), RnicId(0)), 0.0);
}

TEST(PauseStorm, ThatNeverLetsGoIsADeadDirection) {
  SmallWorld small;
  const auto effect = small.apply(storm(small, 1.0));
  for (const auto& [source, target] : small.pairs()) {
    const bool hit = source == RnicId(0) || target == RnicId(0);
    EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5);
  }
}

// RNIC 4 sends 40 % of the link's rate to RNIC 0, of which a storm lets a tenth pass: the cables
// between the switches that bring it are paused, and whoever comes over them waits as well.
TEST(PauseStorm, PausesThePortsThatFeedItUnderLoad) {
  SmallWorld held(loaded_world_options(0.4));
  SmallWorld twin(loaded_world_options(0.4));
  const auto effect = held.apply(storm(held, 0.9));
  for (SmallWorld* small : {&held, &twin}) {
    small->run_until(at_s(5));
  }
  // RNIC 2 is on the same rail and segment, so it shares the ToR of RNIC 0 with the flow's way.
  const double idle_ns = held.mean_ns(RnicId(6), RnicId(2)) - twin.mean_ns(RnicId(6), RnicId(2));
  EXPECT_NEAR(idle_ns, 0.0, 1.0);
  for (SmallWorld* small : {&held, &twin}) {
    small->run_until(at_s(12));
  }
  // Of the source ports one at least takes the flow's own cables.
  double most_ns = 0.0;
  for (std::uint16_t port = 50'000; port < 50'008; ++port) {
    held.port = port;
    twin.port = port;
    most_ns =
        std::max(most_ns, held.mean_ns(RnicId(6), RnicId(2)) - twin.mean_ns(RnicId(6), RnicId(2)));
  }
  EXPECT_GT(most_ns, 1'000.0) << "no victim";
  effect->revert(held.world);
  EXPECT_EQ(held.mean_ns(RnicId(6), RnicId(2)), twin.mean_ns(RnicId(6), RnicId(2)));
}

TEST(HashChange, LeavesTwoUplinksAndGivesAllBack) {
  WorldOptions options = small_world_options();
  options.fabric.aggregation_switches = 8;
  SmallWorld small(options);
  const Fabric& fabric = small.world.fabric();
  const auto uplinks = [&](RnicId source, RnicId target) {
    std::set<LinkId> used;
    for (std::uint16_t port = 50'000; port < 50'200; ++port) {
      small.port = port;
      used.insert(resolve_path(small.world, small.spec(source, target)).request.links[1]);
    }
    return used.size();
  };
  EXPECT_EQ(uplinks(RnicId(1), RnicId(7)), 8u);
  const SwitchId tor = fabric.tor_of(RnicId(1));
  const auto one = small.apply(on_switch(EffectKind::kHashChange, tor));
  const auto two = small.apply(on_switch(EffectKind::kHashChange, tor));
  EXPECT_EQ(uplinks(RnicId(1), RnicId(7)), 2u);
  EXPECT_EQ(uplinks(RnicId(0), RnicId(6)), 8u) << "another ToR";
  one->revert(small.world);
  EXPECT_EQ(uplinks(RnicId(1), RnicId(7)), 2u) << "the other one lasts";
  two->revert(small.world);
  EXPECT_EQ(uplinks(RnicId(1), RnicId(7)), 8u);
}

/// Thirty flows of 6 % of a link from RNIC 1 and its ToR's other RNIC: 45 % of four uplinks, or 90
/// % of two if they share evenly, which few hashes do.
WorldOptions spread() {
  WorldOptions options = small_world_options();
  options.fabric.aggregation_switches = 4;
  options.latency.spike_ratio = 0.0;
  options.load.model = LoadModel::kLinks;
  options.load.ring_rate = BitsPerSecond(0);
  options.load.pipeline_rate = BitsPerSecond(0);
  for (std::uint16_t n = 0; n < 30; ++n) {
    options.load.flows.push_back({.source = RnicId(n % 2 == 0 ? 1 : 3),
                                  .target = RnicId(n % 4 < 2 ? 5 : 7),
                                  .rate_share = 0.06,
                                  .source_port = static_cast<std::uint16_t>(1'000 + n),
                                  .from = at_s(1),
                                  .to = at_s(600)});
  }
  return options;
}

TEST(HashChange, MakesPairsWaitThatTwoUplinksCannotCarry) {
  SmallWorld small(spread());
  SmallWorld twin(spread());
  const SwitchId tor = small.world.fabric().tor_of(RnicId(1));
  const auto effect = small.apply(on_switch(EffectKind::kHashChange, tor));
  double most = 0.0;
  double usual = 0.0;
  for (std::uint16_t port = 50'000; port < 50'016; ++port) {
    for (SmallWorld* one : {&small, &twin}) {
      one->port = port;
      one->run_until(std::max(one->now(), at_s(2)));
    }
    most = std::max(most, small.mean_ns(RnicId(1), RnicId(7)));
    usual = std::max(usual, twin.mean_ns(RnicId(1), RnicId(7)));
  }
  EXPECT_GT(most, usual + 1'000.0);
  effect->revert(small.world);
  EXPECT_EQ(small.mean_ns(RnicId(1), RnicId(7)), twin.mean_ns(RnicId(1), RnicId(7)));
}

EffectSpec swap_of(RnicId one, RnicId other) {
  EffectSpec spec = on_rnic(EffectKind::kCableSwap, one);
  spec.peer = other;
  return spec;
}

// RNICs 0 and 1 of host 0: rail 0 and rail 1.  RNIC 2 is on the ToR of RNIC 0, RNIC 3 on that of 1.
TEST(CableSwap, SendsBothRnicsByEachOthersTor) {
  SmallWorld small;
  const Fabric& fabric = small.world.fabric();
  const auto effect = small.apply(swap_of(RnicId(0), RnicId(1)));
  const auto links = [&](RnicId source, RnicId target) {
    return resolve_path(small.world, small.spec(source, target)).request;
  };
  EXPECT_EQ(links(RnicId(0), RnicId(3)).count, 2u) << "it is now on the ToR of RNIC 3";
  EXPECT_EQ(links(RnicId(0), RnicId(2)).count, 4u);
  EXPECT_EQ(links(RnicId(0), RnicId(2)).links[0], Fabric::up(fabric.access_cable(RnicId(1))));
  EXPECT_EQ(links(RnicId(2), RnicId(0)).links[3], Fabric::down(fabric.access_cable(RnicId(1))));
  // Two links of 750 ns more each way, or fewer.
  EXPECT_DOUBLE_EQ(small.added_ns(RnicId(0), RnicId(2)), 3'000.0);
  EXPECT_DOUBLE_EQ(small.added_ns(RnicId(0), RnicId(3)), -3'000.0);
  EXPECT_DOUBLE_EQ(small.added_ns(RnicId(0), RnicId(6)), 0.0) << "it crosses the spines anyway";
  EXPECT_DOUBLE_EQ(small.added_ns(RnicId(2), RnicId(6)), 0.0);
  for (const auto& [source, target] : small.pairs()) {
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-12);
  }
  const auto again = small.apply(swap_of(RnicId(1), RnicId(5)));
  effect->revert(small.world);
  again->revert(small.world);
  for (const auto& [source, target] : small.pairs()) {
    EXPECT_DOUBLE_EQ(small.added_ns(source, target), 0.0);
  }
}

TEST(CableSwap, SilencesBothWhereRailsAreApart) {
  WorldOptions options = small_world_options();
  options.fabric.preset = FabricPreset::kRailOnly;
  SmallWorld small(options);
  const auto effect = small.apply(swap_of(RnicId(0), RnicId(1)));
  for (const auto& [source, target] : small.pairs()) {
    const bool swapped = std::min(source, target) < RnicId(2);
    const bool designed = small.world.fabric().connected(source, target);
    if (designed) {
      EXPECT_NEAR(small.added_loss(source, target), swapped ? 1.0 : 0.0, 1e-5);
    }
  }
}

TEST(ReportedEffects, RefuseComponentsThatTheyCannotActOn) {
  EXPECT_FALSE(make_effect(on_cable(EffectKind::kSwitchLoss, CableId(0))).has_value());
  EXPECT_FALSE(make_effect(on_rnic(EffectKind::kLinkRate, RnicId(0))).has_value());
  EffectSpec spec = on_cable(EffectKind::kLinkBer, CableId(0));
  spec.ber = 1e-3;
  spec.over = std::chrono::seconds(1);
  EXPECT_FALSE(make_effect(spec).has_value()) << "from where?";
}

}  // namespace
}  // namespace bonescan::test
