// Faults of cables in every preset: they can be taken back exactly, and bonds go around them.
#include "faults/effects/effect.h"
#include "model/fabric/ecmp_hash.h"
#include "model/probe_path.h"
#include "tests/support/fabrics.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

WorldOptions world_options(const FabricOptions& fabric) {
  WorldOptions options;
  options.fabric = fabric;
  options.seed = 3;
  return options;
}

std::unique_ptr<Effect> made(EffectKind kind,
                             const ComponentRef& on,
                             EffectDirection direction = EffectDirection::kBoth) {
  EffectSpec spec;
  spec.kind = kind;
  spec.on = on;
  spec.direction = direction;
  spec.ratio = 0.25;
  spec.ber = 3e-3;
  spec.delay = milliseconds(1);
  spec.down = milliseconds(700);
  spec.up = milliseconds(500);
  auto effect = make_effect(spec);
  EXPECT_TRUE(effect.has_value());
  return std::move(*effect);
}

constexpr Duration kSettling = seconds(2);

TEST(FabricEffects, RevertRestoresTheLinkTable) {
  for (const auto& [name, options] : test::small_fabrics()) {
    Engine engine;
    World world(world_options(options), engine);
    const std::uint64_t healthy = world.links().fingerprint();
    for (std::uint32_t c = 0; c < world.fabric().cable_count(); ++c) {
      for (const EffectKind kind : {EffectKind::kLinkLoss,
                                    EffectKind::kLinkDelay,
                                    EffectKind::kLinkBer,
                                    EffectKind::kPortDown,
                                    EffectKind::kPortFlap}) {
        for (const EffectDirection direction :
             {EffectDirection::kUp, EffectDirection::kDown, EffectDirection::kBoth}) {
          SCOPED_TRACE(name + " " + world.fabric().cable_name(CableId(c)) + " " +
                       std::string(effect_name(kind)));
          const auto effect = made(kind, {RefKind::kCable, c}, direction);
          effect->apply(world);
          engine.run_until(engine.now() + milliseconds(200 + 400 * (c % 2)));
          ASSERT_NE(world.links().fingerprint(), healthy);
          effect->revert(world);
          engine.run_until(engine.now() + kSettling);
          ASSERT_EQ(world.links().fingerprint(), healthy);
        }
      }
    }
  }
}

/// Ports that the round trips of many flows of a pair use at the pair's source.
std::set<std::uint32_t> ports_used(const World& world, RnicId source, RnicId target) {
  std::set<std::uint32_t> ports;
  for (std::uint16_t port = 50'000; port < 50'100; ++port) {
    const ProbePath path =
        resolve_path(world, {.source = source, .target = target, .source_port = port});
    ports.insert(world.fabric().port_of(Fabric::cable_of(path.request.links[0])));
  }
  return ports;
}

double mean_pass(const World& world, RnicId source, RnicId target) {
  double sum = 0.0;
  for (std::uint16_t port = 50'000; port < 50'100; ++port) {
    sum +=
        resolve_path(world, {.source = source, .target = target, .source_port = port}).round_pass;
  }
  return sum / 100.0;
}

/// Half of the requests and half of the answers die, until bond and route have moved.
TEST(FabricEffects, DeadMemberIsLeftAfterFailoverAndWithdrawal) {
  for (const auto& [name, options] : test::small_fabrics()) {
    if (Fabric(options).ports() == 1) {
      continue;
    }
    SCOPED_TRACE(name);
    Engine engine;
    World world(world_options(options), engine);
    const RnicId source = world.fabric().rnic(world.fabric().host(0, 0), 1);
    const RnicId target = world.fabric().rnic(world.fabric().host(1, 1), 1);
    EXPECT_EQ(ports_used(world, source, target), (std::set<std::uint32_t>{0, 1}));
    const auto effect = made(EffectKind::kPortDown,
                             {RefKind::kPort, world.fabric().access_cable(source, 1).index()});
    effect->apply(world);
    EXPECT_NEAR(mean_pass(world, source, target), 0.25, 0.15);
    engine.run_until(engine.now() + options.bond_failover);
    EXPECT_EQ(ports_used(world, source, target), (std::set<std::uint32_t>{0}));
    EXPECT_NEAR(mean_pass(world, source, target), 0.5, 0.2)
        << "answers still come by the dead port";
    engine.run_until(engine.now() + options.route_withdrawal);
    EXPECT_GT(mean_pass(world, source, target), 0.999);
    effect->revert(world);
    engine.run_until(engine.now() + kSettling);
    EXPECT_EQ(ports_used(world, source, target), (std::set<std::uint32_t>{0, 1}));
  }
}

/// HPN's case: the ToR hears nothing and withdraws, the RNIC ignores the fault and keeps sending.
TEST(FabricEffects, IgnoredFaultLosesOneWayForGood) {
  const auto fabrics = test::small_fabrics();
  const auto hpn = std::ranges::find(fabrics, "hpn", &test::NamedFabric::name);
  Engine engine;
  World world(world_options(hpn->options), engine);
  const RnicId bad = world.fabric().rnic(world.fabric().host(0, 0), 1);
  const RnicId other = world.fabric().rnic(world.fabric().host(1, 1), 1);
  const auto effect = made(EffectKind::kPortDown,
                           {RefKind::kPort, world.fabric().access_cable(bad, 0).index()},
                           EffectDirection::kUp);
  effect->apply(world);
  engine.run_until(engine.now() + kSettling);
  EXPECT_EQ(ports_used(world, bad, other), (std::set<std::uint32_t>{0, 1}));
  EXPECT_EQ(ports_used(world, other, bad), (std::set<std::uint32_t>{1}))
      << "its route is withdrawn";
  EXPECT_NEAR(mean_pass(world, bad, other), 0.5, 0.2);
  EXPECT_NEAR(mean_pass(world, other, bad), 0.5, 0.2) << "answers are sent by the dead port too";
}

/// All ports of an RNIC flap together.
TEST(FabricEffects, RnicOnABondLosesAllItsPorts) {
  const auto fabrics = test::small_fabrics();
  const auto hpn = std::ranges::find(fabrics, "hpn", &test::NamedFabric::name);
  Engine engine;
  World world(world_options(hpn->options), engine);
  const RnicId rnic = world.fabric().rnic(world.fabric().host(0, 0), 1);
  const RnicId other = world.fabric().rnic(world.fabric().host(1, 1), 1);
  const auto effect = made(EffectKind::kPortFlap, {RefKind::kRnic, rnic.index()});
  effect->apply(world);
  engine.run_until(engine.now() + milliseconds(600));
  EXPECT_EQ(mean_pass(world, rnic, other), 0.0);
  engine.run_until(engine.now() + milliseconds(200));
  EXPECT_GT(mean_pass(world, rnic, other), 0.0);
}

TEST(FabricEffects, RailsOfARailOnlyFabricDoNotMeet) {
  const auto fabrics = test::small_fabrics();
  const auto rails = std::ranges::find(fabrics, "rail-only", &test::NamedFabric::name);
  Engine engine;
  const World world(world_options(rails->options), engine);
  const Fabric& fabric = world.fabric();
  for (std::uint32_t s = 0; s < fabric.rnic_count(); ++s) {
    for (std::uint32_t t = 0; t < fabric.rnic_count(); ++t) {
      const ProbeSpec spec{.source = RnicId(s), .target = RnicId(t), .source_port = 50'000};
      const bool same = fabric.rail_of(RnicId(s)) == fabric.rail_of(RnicId(t));
      EXPECT_EQ(resolve_path(world, spec).round_pass > 0.99, same);
      EXPECT_EQ(healthy_condition(world, spec).loss_ratio < 0.01, same) << "by design, no fault";
    }
  }
}

}  // namespace
}  // namespace bonescan
