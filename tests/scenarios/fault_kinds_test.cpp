// Named kinds are presets of primitive effects: nothing more, nothing else.
#include "faults/kinds/fault_kind.h"

#include <string>
#include <vector>

namespace bonescan {
namespace {

KindParameters on(RefKind kind, std::uint32_t index) {
  KindParameters parameters;
  parameters.on = {kind, index};
  return parameters;
}

EffectSpec only_effect(std::string_view kind, const KindParameters& parameters) {
  const auto effects = effects_of_kind(kind, parameters);
  EXPECT_TRUE(effects) << kind;
  EXPECT_EQ(effects->size(), 1u) << kind;
  return effects->front();
}

TEST(FaultKinds, AreThoseOfTheCatalog) {
  std::vector<std::string> names;
  for (const FaultKind& info : fault_kinds()) {
    names.emplace_back(info.name);
    EXPECT_TRUE(info.meaning.ends_with('.')) << info.name;
  }
  EXPECT_THAT(names,
              testing::ElementsAre("crc-error",
                                   "switch-port-down",
                                   "rnic-port-flapping",
                                   "missing-overlay-rule",
                                   "overlay-loop",
                                   "stale-flow-counters",
                                   "one-way-loss",
                                   "ecmp-path-loss",
                                   "large-packet-loss",
                                   "mtu-blackhole",
                                   "dscp-loss",
                                   "silent-blackhole",
                                   "neighbour-missing",
                                   "neighbour-stale",
                                   "route-missing",
                                   "vni-mismatch",
                                   "tunnel-checksum",
                                   "gid-holes",
                                   "spoof-check",
                                   "eswitch-full",
                                   "lag-member-down",
                                   "pcie-width-loss",
                                   "lane-downgrade",
                                   "optics-degrading"));
}

TEST(CrcError, IsLossOnItsCable) {
  KindParameters parameters = on(RefKind::kCable, 17);
  parameters.direction = EffectDirection::kUp;
  parameters.loss = 0.1;
  const EffectSpec effect = only_effect("crc-error", parameters);
  EXPECT_EQ(effect.kind, EffectKind::kLinkLoss);
  EXPECT_EQ(effect.on, parameters.on);
  EXPECT_EQ(effect.direction, EffectDirection::kUp);
  EXPECT_EQ(effect.ratio, 0.1);
  EXPECT_EQ(effect.packets, PacketSelector{});
}

TEST(SwitchPortDown, IsAPortDownOnItsCable) {
  const EffectSpec effect = only_effect("switch-port-down", on(RefKind::kCable, 3));
  EXPECT_EQ(effect.kind, EffectKind::kPortDown);
  EXPECT_EQ(effect.on, (ComponentRef{RefKind::kCable, 3}));
}

TEST(RnicPortFlapping, FlapsEveryCableOfTheRnic) {
  const Fabric fabric({.segments = 2, .hosts_per_segment = 2, .rails = 4});
  const RnicId rnic = fabric.rnic(fabric.host(1, 1), 2);
  KindParameters parameters = on(RefKind::kRnic, rnic.index());
  parameters.down = std::chrono::seconds(3);
  parameters.up = std::chrono::seconds(5);
  const EffectSpec effect = only_effect("rnic-port-flapping", parameters);
  EXPECT_EQ(effect.kind, EffectKind::kPortFlap);
  EXPECT_EQ(effect.on, parameters.on);
  EXPECT_EQ(cables_of(fabric, effect.on), std::vector{fabric.access_cable(rnic)});
  EXPECT_EQ(effect.down, std::chrono::seconds(3));
  EXPECT_EQ(effect.up, std::chrono::seconds(5));
}

TEST(OverlayKinds, KeepTheRuleAndItsPeer) {
  KindParameters parameters = on(RefKind::kRnic, 4);
  parameters.rule = RuleRole::kEncap;
  parameters.peer = RnicId(9);
  const EffectSpec removed = only_effect("missing-overlay-rule", parameters);
  EXPECT_EQ(removed.kind, EffectKind::kRuleRemove);
  EXPECT_EQ(removed.rule, RuleRole::kEncap);
  EXPECT_EQ(removed.peer, RnicId(9));
  EXPECT_EQ(removed.on, parameters.on);
  const EffectSpec loop = only_effect("overlay-loop", parameters);
  EXPECT_EQ(loop.kind, EffectKind::kRuleAlter);
  EXPECT_EQ(loop.alteration, RuleAlteration::kLoop);
  EXPECT_EQ(loop.peer, RnicId(9));
}

TEST(StaleFlowCounters, FreezeTheCountersOfTheRnic) {
  const EffectSpec effect = only_effect("stale-flow-counters", on(RefKind::kRnic, 30));
  EXPECT_EQ(effect.kind, EffectKind::kCountersFreeze);
  EXPECT_EQ(effect.on, (ComponentRef{RefKind::kRnic, 30}));
}

TEST(EffectsOfKind, RefusesWhatDoesNotFit) {
  const auto code = [](std::string_view kind, const KindParameters& parameters) {
    const auto effects = effects_of_kind(kind, parameters);
    EXPECT_FALSE(effects) << kind;
    return effects ? ErrorCode::kIo : effects.error().code;
  };
  EXPECT_EQ(code("gremlins", on(RefKind::kCable, 0)), ErrorCode::kNotFound);
  for (const FaultKind& info : fault_kinds()) {
    EXPECT_EQ(code(info.name, on(RefKind::kHost, 0)), ErrorCode::kInvalid);
  }
  KindParameters parameters = on(RefKind::kCable, 0);
  parameters.loss = 0.0;
  EXPECT_EQ(code("crc-error", parameters), ErrorCode::kInvalid);
  parameters.loss = 1.5;
  EXPECT_EQ(code("crc-error", parameters), ErrorCode::kInvalid);
  parameters = on(RefKind::kRnic, 0);
  parameters.up = Duration::zero();
  EXPECT_EQ(code("rnic-port-flapping", parameters), ErrorCode::kInvalid);
  parameters = on(RefKind::kRnic, 0);
  parameters.rule = RuleRole::kEncap;
  EXPECT_EQ(code("overlay-loop", parameters), ErrorCode::kInvalid);
  parameters.peer = RnicId(0);
  EXPECT_EQ(code("overlay-loop", parameters), ErrorCode::kInvalid);
  parameters.rule = RuleRole::kDeliver;
  parameters.peer = RnicId(1);
  EXPECT_EQ(code("missing-overlay-rule", parameters), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace bonescan
