// port.down and port.flap: a cable that carries nothing, for good or in turns; all cables of an
// RNIC if the effect is on the RNIC.
#include "faults/effects/effect.h"

#include <optional>
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

class PortFlap final : public Effect {
 public:
  PortFlap(const ComponentRef& on, Duration down, Duration up) : on_(on), down_(down), up_(up) {}

  void apply(World& world) override {
    world_ = &world;
    toggle(0);
  }

  void revert(World& world) override {
    if (next_) {
      world.engine().cancel(*next_);
      next_.reset();
    }
    if (is_down_) {
      set(false);
    }
  }

 private:
  void set(bool is_down) {
    for (const CableId cable : cables_of(world_->fabric(), on_)) {
      if (is_down) {
        world_->set_port_down(cable);
      } else {
        world_->set_port_up(cable);
      }
    }
    is_down_ = is_down;
  }

  void toggle(std::uint64_t /*unused*/) {
    set(!is_down_);
    next_ = world_->engine().schedule(world_->engine().now() + (is_down_ ? down_ : up_),
                                      EventPriority::kFault,
                                      action<&PortFlap::toggle>(*this));
  }

  ComponentRef on_;
  Duration down_;
  Duration up_;
  World* world_ = nullptr;
  bool is_down_ = false;
  std::optional<EventHandle> next_;
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
