// Named kinds are presets of primitive effects: nothing more, nothing else.
#include "faults/kinds/fault_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
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

TEST(FaultKinds, AreNamedOnceAndSayWhatTheyAre) {
  std::set<std::string_view> names;
  for (const FaultKind& info : fault_kinds()) {
    SCOPED_TRACE(info.name);
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_EQ(find_fault_kind(info.name), &info);
    EXPECT_TRUE(info.meaning.ends_with('.'));
    EXPECT_NE(info.effects, nullptr);
    EXPECT_NE(info.draw, nullptr);
  }
  EXPECT_EQ(find_fault_kind("gremlins"), nullptr);
}

TEST(FaultKinds, OfOneEffectAreThatEffectOnTheirComponent) {
  struct Case {
    std::string_view kind;
    RefKind on;
    EffectKind effect;
  };
  for (const Case& c : {
           Case{"switch-port-down", RefKind::kCable, EffectKind::kPortDown},
           Case{"switch-port-flapping", RefKind::kCable, EffectKind::kPortFlap},
           Case{"switch-offline", RefKind::kSwitch, EffectKind::kSwitchDown},
           Case{"rnic-hardware-failure", RefKind::kRnic, EffectKind::kRnicFail},
           Case{"rnic-firmware-stall", RefKind::kRnic, EffectKind::kRnicStall},
           Case{"offloading-failure", RefKind::kRnic, EffectKind::kOffloadRefuse},
           Case{"pcie-nic-error", RefKind::kHost, EffectKind::kBoardError},
           Case{"gpudirect-error", RefKind::kRnic, EffectKind::kGpuDirectOff},
           Case{"not-using-rdma", RefKind::kRnic, EffectKind::kRdmaBypass},
           Case{"repetitive-flow-offloading", RefKind::kRnic, EffectKind::kOffloadChurn},
           Case{"container-crash", RefKind::kRnic, EffectKind::kContainerCrash},
           Case{"rnic-port-down", RefKind::kRnic, EffectKind::kPortDown},
           Case{"bond-error", RefKind::kRnic, EffectKind::kPortDown},
           Case{"gid-change", RefKind::kRnic, EffectKind::kGidReregister},
           Case{"suboptimal-flow-offloading", RefKind::kRnic, EffectKind::kRulePriority},
           Case{"hugepage-mismatch", RefKind::kHost, EffectKind::kHugepages},
           Case{"congestion-control-off", RefKind::kSwitch, EffectKind::kControlOff},
           Case{"stale-flow-counters", RefKind::kRnic, EffectKind::kCountersFreeze},
       }) {
    SCOPED_TRACE(c.kind);
    const EffectSpec effect = only_effect(c.kind, on(c.on, 3));
    EXPECT_EQ(effect.kind, c.effect);
    EXPECT_EQ(effect.on, (ComponentRef{c.on, 3}));
  }
}

TEST(SuboptimalFlowOffloading, TouchesTheShareThatIsAskedFor) {
  KindParameters parameters = on(RefKind::kRnic, 4);
  parameters.flow_share = 0.25;
  EXPECT_EQ(only_effect("suboptimal-flow-offloading", parameters).packets.flow_share, 0.25);
}

TEST(RnicFirmwareStall, TouchesTheShareThatIsAskedForByTheDelayThatIsAskedFor) {
  KindParameters parameters = on(RefKind::kRnic, 4);
  parameters.flow_share = 0.25;
  parameters.delay = std::chrono::microseconds(7);
  const EffectSpec stall = only_effect("rnic-firmware-stall", parameters);
  EXPECT_EQ(stall.packets.flow_share, 0.25);
  EXPECT_EQ(stall.delay, std::chrono::microseconds(7));
}

TEST(RepetitiveFlowOffloading, KeepsItsTwoTimes) {
  KindParameters parameters = on(RefKind::kRnic, 4);
  parameters.down = std::chrono::seconds(1);
  parameters.up = std::chrono::seconds(4);
  const EffectSpec churn = only_effect("repetitive-flow-offloading", parameters);
  EXPECT_EQ(churn.down, std::chrono::seconds(1));
  EXPECT_EQ(churn.up, std::chrono::seconds(4));
}

TEST(HugepageMismatch, LeavesThePagesThatAreAskedFor) {
  KindParameters parameters = on(RefKind::kHost, 1);
  EXPECT_EQ(only_effect("hugepage-mismatch", parameters).pages, 0u);
  parameters.pages = 70;
  EXPECT_EQ(only_effect("hugepage-mismatch", parameters).pages, 70u);
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

TEST(EffectsOfKind, RefusesWhatDoesNotFit) {
  const auto code = [](std::string_view kind, const KindParameters& parameters) {
    const auto effects = effects_of_kind(kind, parameters);
    EXPECT_FALSE(effects) << kind;
    return effects ? ErrorCode::kIo : effects.error().code;
  };
  EXPECT_EQ(code("gremlins", on(RefKind::kCable, 0)), ErrorCode::kNotFound);
  for (const FaultKind& info : fault_kinds()) {
    EXPECT_EQ(code(info.name, on(RefKind::kAgent, 0)), ErrorCode::kInvalid);
  }
  KindParameters parameters = on(RefKind::kCable, 0);
  parameters.loss = 0.0;
  EXPECT_EQ(code("crc-error", parameters), ErrorCode::kInvalid);
  parameters.loss = 1.5;
  EXPECT_EQ(code("crc-error", parameters), ErrorCode::kInvalid);
  for (const double share : {0.0, 1.1}) {
    parameters = on(RefKind::kRnic, 0);
    parameters.flow_share = share;
    EXPECT_EQ(code("suboptimal-flow-offloading", parameters), ErrorCode::kInvalid);
    EXPECT_EQ(code("rnic-firmware-stall", parameters), ErrorCode::kInvalid);
  }
  parameters = on(RefKind::kRnic, 0);
  parameters.delay = Duration::zero();
  EXPECT_EQ(code("rnic-firmware-stall", parameters), ErrorCode::kInvalid);
  parameters = on(RefKind::kRnic, 0);
  parameters.up = Duration::zero();
  EXPECT_EQ(code("rnic-port-flapping", parameters), ErrorCode::kInvalid);
  EXPECT_EQ(code("repetitive-flow-offloading", parameters), ErrorCode::kInvalid);
  parameters = on(RefKind::kCable, 0);
  parameters.down = Duration::zero();
  EXPECT_EQ(code("switch-port-flapping", parameters), ErrorCode::kInvalid);
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
