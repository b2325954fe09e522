// Effects drawn at random: every kind that faults/ knows, on any component that it can act on.
//
// Kinds are found by asking effect_name(), so one that is added later is drawn as well.
#pragma once

#include "faults/effects/effect.h"
#include "tests/support/dice.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace bonescan::test {

inline std::vector<EffectKind> all_effect_kinds() {
  std::vector<EffectKind> kinds;
  for (std::uint8_t k = 0; effect_name(static_cast<EffectKind>(k)) != "unknown"; ++k) {
    kinds.push_back(static_cast<EffectKind>(k));
  }
  return kinds;
}

inline std::uint32_t component_count(const Fabric& fabric, RefKind kind) {
  switch (kind) {
    case RefKind::kHost:
    case RefKind::kOvs:
    case RefKind::kAgent:
      return fabric.host_count();
    case RefKind::kRnic:
      return fabric.rnic_count();
    case RefKind::kSwitch:
      return fabric.switch_count();
    case RefKind::kCable:
      return fabric.cable_count();
    case RefKind::kPort:
      return fabric.access_count();
  }
  return 0;
}

/// An effect of this kind with random parameters.  `on` stays a host if no component fits.
inline EffectSpec random_effect(EffectKind kind, const Fabric& fabric, Dice& dice) {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  constexpr std::array kRefKinds = {RefKind::kHost,
                                    RefKind::kRnic,
                                    RefKind::kSwitch,
                                    RefKind::kCable,
                                    RefKind::kOvs,
                                    RefKind::kAgent,
                                    RefKind::kPort};
  EffectSpec spec;
  spec.kind = kind;
  spec.direction = static_cast<EffectDirection>(dice.below(3));
  spec.ratio = dice.uniform(0.05, 1.0);
  spec.ber = dice.uniform(1e-3, 4e-3);
  spec.delay = dice.between(microseconds(1), microseconds(50));
  spec.down = dice.between(milliseconds(200), milliseconds(1'500));
  spec.up = dice.between(milliseconds(200), milliseconds(1'500));
  spec.rule = static_cast<RuleRole>(dice.below(3));
  spec.alteration = static_cast<RuleAlteration>(dice.below(2));
  spec.peer = RnicId(dice.below(fabric.rnic_count()));
  if (dice.below(3) == 0) {
    spec.packets.min_bytes = dice.below(2) * 512;
    spec.packets.flow_share = dice.uniform(0.2, 0.9);
  }
  constexpr int kTries = 200;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const RefKind on = kRefKinds[dice.below(kRefKinds.size())];
    spec.on = {on, dice.below(component_count(fabric, on))};
    if (make_effect(spec)) {
      break;
    }
  }
  return spec;
}

}  // namespace bonescan::test
