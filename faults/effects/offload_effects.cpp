// offload.remove and counters.freeze: the RNIC's flow table and the counters that keep it alive.
#include "faults/effects/effect.h"

namespace bonescan {
namespace {

class OffloadRemove final : public Effect {
 public:
  explicit OffloadRemove(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.lose_offloads(rnic_); }

  void revert(World& /*world*/) override {}

 private:
  RnicId rnic_;
};

class CountersFreeze final : public Effect {
 public:
  explicit CountersFreeze(RnicId rnic) : rnic_(rnic) {}

  void apply(World& world) override { world.freeze_counters(rnic_); }

  void revert(World& world) override { world.thaw_counters(rnic_); }

 private:
  RnicId rnic_;
};

}  // namespace

std::unique_ptr<Effect> make_offload_effect(const EffectSpec& spec) {
  if (spec.on.kind != RefKind::kRnic) {
    return nullptr;
  }
  if (spec.kind == EffectKind::kOffloadRemove) {
    return std::make_unique<OffloadRemove>(spec.on.rnic());
  }
  return std::make_unique<CountersFreeze>(spec.on.rnic());
}

}  // namespace bonescan
