// link.loss, link.delay, link.ber, port.down, port.flap: what probes see of them.
#include "model/fabric/link_physics.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <cmath>

namespace bonescan::test {
namespace {

constexpr double kBase = 2e-6;  // LatencyModelOptions::base_loss_ratio

EffectSpec loss(CableId cable, double ratio, EffectDirection direction = EffectDirection::kBoth) {
  EffectSpec spec = on_cable(EffectKind::kLinkLoss, cable);
  spec.ratio = ratio;
  spec.direction = direction;
  return spec;
}

std::vector<CableId> one_of_each(const Fabric& fabric) {
  return {fabric.access_cable(RnicId(3)), fabric.fabric_cable(fabric.tor(0, 1), 1)};
}

// Every pair, every direction: the loss is one factor per crossing of a broken directed link.
TEST(LinkLoss, MultipliesOverTheCrossingsOfTheBrokenDirections) {
  for (const EffectDirection direction :
       {EffectDirection::kUp, EffectDirection::kDown, EffectDirection::kBoth}) {
    SmallWorld small;
    for (const CableId cable : one_of_each(small.world.fabric())) {
      const auto effect = small.apply(loss(cable, 0.25, direction));
      int hit = 0;
      for (const auto& [source, target] : small.pairs()) {
        int crossings = 0;
        if (direction != EffectDirection::kDown) {
          crossings += small.crossings(source, target, Fabric::up(cable));
        }
        if (direction != EffectDirection::kUp) {
          crossings += small.crossings(source, target, Fabric::down(cable));
        }
        EXPECT_NEAR(small.condition(source, target).loss_ratio,
                    1.0 - std::pow(0.75, crossings) * (1.0 - kBase),
                    1e-12);
        hit += crossings > 0 ? 1 : 0;
      }
      EXPECT_GT(hit, 0);
      EXPECT_LT(hit, static_cast<int>(small.pairs().size()));
      effect->revert(small.world);
      for (const auto& [source, target] : small.pairs()) {
        EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-15);
      }
    }
  }
}

// 20,000 probes at 2 %: 400 lost, standard deviation 19.8; the bound is four of them.
TEST(LinkLoss, LosesItsShareOfProbes) {
  SmallWorld small;
  const RnicId source(0);
  const RnicId target(3);
  const auto effect =
      small.apply(loss(small.world.fabric().access_cable(target), 0.02, EffectDirection::kDown));
  int lost = 0;
  constexpr int kProbes = 20'000;
  for (int i = 0; i < kProbes; ++i) {
    lost += small.probe(source, target, small.now() + std::chrono::milliseconds(1)) == kNoAnswer;
  }
  EXPECT_NEAR(lost, kProbes * 0.02, 4.0 * std::sqrt(kProbes * 0.02 * 0.98));
}

TEST(LinkLoss, TouchesOnlyThePacketsItSelects) {
  struct Case {
    const char* name;
    PacketSelector packets;
    std::uint32_t bytes;
    std::uint8_t dscp;
    bool hit;
  };
  const Case cases[] = {
      {"all", {}, 64, 26, true},
      {"large only, small packet", {.min_bytes = 1'000, .dscp = {}}, 999, 26, false},
      {"large only, at the limit", {.min_bytes = 1'000, .dscp = {}}, 1'000, 26, true},
      {"small only, at the limit", {.max_bytes = 256, .dscp = {}}, 256, 26, true},
      {"small only, large packet", {.max_bytes = 256, .dscp = {}}, 257, 26, false},
      {"class 26, class 26", {.dscp = 26}, 64, 26, true},
      {"class 26, class 0", {.dscp = 26}, 64, 0, false},
      {"class 0, class 26", {.dscp = 0}, 64, 26, false},
      {"no flow", {.dscp = {}, .flow_share = 0.0}, 64, 26, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    SmallWorld small;
    small.bytes = c.bytes;
    small.dscp = c.dscp;
    EffectSpec spec = loss(small.world.fabric().access_cable(RnicId(3)), 0.5);
    spec.packets = c.packets;
    const auto effect = small.apply(spec);
    EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(3)), c.hit ? 0.75 : 0.0, 1e-5);
  }
}

// 400 source ports at a share of 0.3: 120 selected, standard deviation 9.2, bound four of them.
// Request and answer hash on their own, so a port may be hit one way, both ways or not at all.
TEST(LinkLoss, TakesAShareOfFlowsByHash) {
  SmallWorld small;
  EffectSpec spec = loss(small.world.fabric().access_cable(RnicId(3)), 1.0, EffectDirection::kDown);
  spec.packets.flow_share = 0.3;
  const auto effect = small.apply(spec);
  int hit = 0;
  for (std::uint16_t port = 50'000; port < 50'400; ++port) {
    small.port = port;
    const double found = small.added_loss(RnicId(0), RnicId(3));
    EXPECT_TRUE(found > 0.99 || found < 1e-9);
    EXPECT_EQ(found, small.added_loss(RnicId(0), RnicId(3)));
    hit += found > 0.99 ? 1 : 0;
  }
  EXPECT_NEAR(hit, 120, 37);
}

TEST(LinkDelay, AddsExactlyItsDelayPerCrossing) {
  SmallWorld small;
  for (const CableId cable : one_of_each(small.world.fabric())) {
    EffectSpec spec = on_cable(EffectKind::kLinkDelay, cable);
    spec.delay = std::chrono::microseconds(7);
    spec.direction = EffectDirection::kUp;
    const auto effect = small.apply(spec);
    for (const auto& [source, target] : small.pairs()) {
      EXPECT_DOUBLE_EQ(small.added_ns(source, target),
                       7'000.0 * small.crossings(source, target, Fabric::up(cable)));
      EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-15);
    }
    effect->revert(small.world);
    EXPECT_DOUBLE_EQ(small.added_ns(RnicId(0), RnicId(3)), 0.0);
  }
}

// The whole distribution moves: the fastest of many probes too.
TEST(LinkDelay, MovesTheFastestProbeToo) {
  const auto fastest = [](bool delayed) {
    SmallWorld small;
    std::unique_ptr<Effect> effect;
    if (delayed) {
      EffectSpec spec =
          on_cable(EffectKind::kLinkDelay, small.world.fabric().access_cable(RnicId(3)));
      spec.delay = std::chrono::microseconds(10);
      effect = small.apply(spec);
    }
    std::uint32_t least = kNoAnswer;
    for (int i = 1; i <= 200; ++i) {
      least = std::min(least, small.probe(RnicId(0), RnicId(3), at_ms(i)));
    }
    return least;
  };
  EXPECT_GT(fastest(true), fastest(false) + 15'000);
}

TEST(PortDown, SilencesExactlyThePairsOfItsRnicBothWays) {
  for (const RefKind kind : {RefKind::kCable, RefKind::kRnic}) {
    SmallWorld small;
    EffectSpec spec = on_cable(EffectKind::kPortDown, small.world.fabric().access_cable(RnicId(3)));
    spec.on.kind = kind;  // An access cable has its RNIC's index.
    const auto effect = small.apply(spec);
    for (const auto& [source, target] : small.pairs()) {
      const bool hit = source == RnicId(3) || target == RnicId(3);
      EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5);
    }
    EXPECT_EQ(small.probe(RnicId(0), RnicId(3), at_ms(1)), kNoAnswer);
    EXPECT_EQ(small.probe(RnicId(3), RnicId(0), at_ms(2)), kNoAnswer);
    effect->revert(small.world);
    EXPECT_NE(small.probe(RnicId(0), RnicId(3), at_ms(3)), kNoAnswer);
  }
}

// A fabric cable is silent until both ends' ECMP groups avoid it (800 ms), then nobody sees it.
TEST(PortDown, IsRoutedAroundInTheFabric) {
  SmallWorld small;
  const CableId cable = small.world.fabric().fabric_cable(small.world.fabric().tor(0, 1), 1);
  std::vector<RnicPair> crossing;
  for (const auto& [source, target] : small.pairs()) {
    if (small.crossings(source, target, Fabric::up(cable)) +
            small.crossings(source, target, Fabric::down(cable)) >
        0) {
      crossing.emplace_back(source, target);
    }
  }
  ASSERT_FALSE(crossing.empty());
  small.run_until(at_s(10));
  const auto effect = small.apply(on_cable(EffectKind::kPortDown, cable));
  small.run_until(at_ms(10'799));
  for (const auto& [source, target] : crossing) {
    EXPECT_NEAR(small.added_loss(source, target), 1.0, 1e-5);
  }
  small.run_until(at_ms(10'801));
  for (const auto& [source, target] : small.pairs()) {
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-9);
    EXPECT_EQ(small.crossings(source, target, Fabric::up(cable)), 0);
  }
}

TEST(PortFlap, IsDownAndUpInTurn) {
  SmallWorld small;
  small.run_until(at_s(10));
  EffectSpec spec = on_cable(EffectKind::kPortFlap, small.world.fabric().access_cable(RnicId(3)));
  spec.down = std::chrono::seconds(2);
  spec.up = std::chrono::seconds(8);
  const auto effect = small.apply(spec);
  for (std::int64_t ms = 10'050; ms < 40'000; ms += 100) {
    small.run_until(at_ms(ms));
    const bool down = (ms - 10'000) % 10'000 < 2'000;
    EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(3)), down ? 1.0 : 0.0, 1e-5) << ms;
  }
  small.run_until(at_ms(41'000));  // Down again.
  EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(3)), 1.0, 1e-5);
  effect->revert(small.world);
  for (std::int64_t ms = 41'100; ms < 60'000; ms += 500) {
    small.run_until(at_ms(ms));
    EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(3)), 0.0, 1e-9) << ms;
  }
}

TEST(LinkBer, LosesWhatCorrectionAndRetryLeave) {
  for (const bool llr : {false, true}) {
    WorldOptions options = small_world_options();
    options.fabric.access.llr = llr;
    for (const double ber : {1e-5, 1e-3, 2e-3, 3e-3, 2e-2}) {
      SCOPED_TRACE(testing::Message() << ber << " retry " << llr);
      SmallWorld small(options);
      const LinkQuality expected = link_quality(ber, 1'024, llr);
      EffectSpec spec = on_cable(EffectKind::kLinkBer, CableId(3));
      spec.direction = EffectDirection::kUp;
      spec.ber = ber;
      const auto effect = small.apply(spec);
      EXPECT_NEAR(small.added_loss(RnicId(3), RnicId(0)), expected.loss_ratio, 1e-5);
      EXPECT_EQ(small.world.links().capacity_ratio(Fabric::up(CableId(3))),
                expected.capacity_ratio);
      EXPECT_EQ(small.world.links().capacity_ratio(Fabric::down(CableId(3))), 1.0);
      effect->revert(small.world);
      EXPECT_NEAR(small.added_loss(RnicId(3), RnicId(0)), 0.0, 1e-12);
    }
  }
}

TEST(LinkEffects, RefuseComponentsThatTheyCannotActOn) {
  for (const EffectKind kind : {EffectKind::kLinkLoss, EffectKind::kLinkDelay}) {
    EXPECT_FALSE(make_effect(on_rnic(kind, RnicId(0))).has_value());
  }
  EXPECT_FALSE(make_effect(on_process(RefKind::kHost, HostId(0))).has_value());
  EXPECT_FALSE(make_effect(on_cable(EffectKind::kCountersFreeze, CableId(0))).has_value());
  EXPECT_FALSE(make_effect(on_cable(EffectKind::kRuleRemove, CableId(0))).has_value());
  EffectSpec encap = on_rnic(EffectKind::kRuleRemove, RnicId(0));
  encap.rule = RuleRole::kEncap;
  EXPECT_FALSE(make_effect(encap).has_value());  // Towards whom?
}

}  // namespace
}  // namespace bonescan::test
