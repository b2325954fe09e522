// port.down and port.flap: a cable that carries nothing, for good or in turns.
#include "faults/effects/effect.h"

#include <optional>

namespace bonescan {
namespace {

class PortDown final : public Effect {
 public:
  explicit PortDown(CableId cable) : cable_(cable) {}

  void apply(World& world) override { world.set_port_down(cable_); }

  void revert(World& world) override { world.set_port_up(cable_); }

 private:
  CableId cable_;
};

class PortFlap final : public Effect {
 public:
  PortFlap(CableId cable, Duration down, Duration up) : cable_(cable), down_(down), up_(up) {}

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
      world.set_port_up(cable_);
      is_down_ = false;
    }
  }

 private:
  void toggle(std::uint64_t /*unused*/) {
    if (is_down_) {
      world_->set_port_up(cable_);
    } else {
      world_->set_port_down(cable_);
    }
    is_down_ = !is_down_;
    next_ = world_->engine().schedule(world_->engine().now() + (is_down_ ? down_ : up_),
                                      EventPriority::kFault,
                                      action<&PortFlap::toggle>(*this));
  }

  CableId cable_;
  Duration down_;
  Duration up_;
  World* world_ = nullptr;
  bool is_down_ = false;
  std::optional<EventHandle> next_;
};

}  // namespace

std::unique_ptr<Effect> make_port_effect(const EffectSpec& spec) {
  // An access cable has its RNIC's index.
  if (spec.on.kind != RefKind::kCable && spec.on.kind != RefKind::kRnic) {
    return nullptr;
  }
  const CableId cable(spec.on.index);
  if (spec.kind == EffectKind::kPortDown) {
    return std::make_unique<PortDown>(cable);
  }
  return std::make_unique<PortFlap>(cable, spec.down, spec.up);
}

}  // namespace bonescan
