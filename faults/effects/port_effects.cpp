// port.down and port.flap: a cable that carries nothing, for good or in turns; all cables of an
// RNIC if the effect is on the RNIC.
#include "faults/effects/alternating.h"

#include <vector>

namespace bonescan {
namespace {

class PortDown final : public Effect {
 public:
  PortDown(const ComponentRef& on, EffectDirection direction) : on_(on), direction_(direction) {}

  void apply(World& world) override {
    for (const CableId cable : cables_of(world.fabric(), on_)) {
      if (direction_ == EffectDirection::kBoth) {
        world.set_port_down(cable);
      } else {
        world.set_one_way_down(link_of(cable));
      }
    }
  }

  void revert(World& world) override {
    for (const CableId cable : cables_of(world.fabric(), on_)) {
      if (direction_ == EffectDirection::kBoth) {
        world.set_port_up(cable);
      } else {
        world.set_one_way_up(link_of(cable));
      }
    }
  }

 private:
  LinkId link_of(CableId cable) const {
    return direction_ == EffectDirection::kUp ? Fabric::up(cable) : Fabric::down(cable);
  }

  ComponentRef on_;
  EffectDirection direction_;
};

class PortFlap final : public Alternating {
 public:
  PortFlap(const ComponentRef& on, Duration down, Duration up) : Alternating(down, up), on_(on) {}

 private:
  void set_broken(World& world, bool broken) override {
    for (const CableId cable : cables_of(world.fabric(), on_)) {
      if (broken) {
        world.set_port_down(cable);
      } else {
        world.set_port_up(cable);
      }
    }
  }

  ComponentRef on_;
};

}  // namespace

std::unique_ptr<Effect> make_port_effect(const EffectSpec& spec) {
  const RefKind kind = spec.on.kind;
  if (kind != RefKind::kCable && kind != RefKind::kRnic && kind != RefKind::kPort) {
    return nullptr;
  }
  if (spec.kind == EffectKind::kPortDown) {
    return std::make_unique<PortDown>(spec.on, spec.direction);
  }
  return std::make_unique<PortFlap>(spec.on, spec.down, spec.up);
}

}  // namespace bonescan
