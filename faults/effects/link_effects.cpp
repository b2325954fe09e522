// link.loss, link.delay, link.ber, link.rate and switch.loss: impairments of directed links.
#include "faults/effects/effect.h"
#include "model/fabric/link_physics.h"

#include <cmath>
#include <optional>
#include <vector>

namespace bonescan {
namespace {

/// Bit errors hit frames by their length; one length stands for all.  @source ours
constexpr std::uint32_t kFrameBytes = 1'024;

/// Bit errors that grow do so in so many steps, each an event: probes between two of them meet one
/// loss ratio.  @ours
constexpr std::uint32_t kGrowthSteps = 64;

PacketFilter filter_of(const PacketSelector& packets) {
  return {.min_bytes = packets.min_bytes,
          .max_bytes = packets.max_bytes,
          .dscp = packets.dscp,
          .flow_share = packets.flow_share};
}

/// The directed links of one cable.
class LinkEffect final : public Effect {
 public:
  explicit LinkEffect(const EffectSpec& spec) : spec_(spec) {}

  void apply(World& world) override {
    world_ = &world;
    if (spec_.kind == EffectKind::kLinkBer && spec_.over > Duration::zero()) {
      grow(0);
      return;
    }
    impair(spec_.ber);
  }

  void revert(World& world) override {
    if (next_) {
      world.engine().cancel(*next_);
      next_.reset();
    }
    heal();
  }

 private:
  /// Step `step` of the growth, and the next one a while later.
  void grow(std::uint64_t step) {
    next_.reset();
    heal();
    const double done = static_cast<double>(step) / kGrowthSteps;
    impair(spec_.ber_from * std::pow(spec_.ber / spec_.ber_from, done));
    if (step < kGrowthSteps) {
      next_ = world_->engine().schedule(world_->engine().now() + spec_.over / kGrowthSteps,
                                        EventPriority::kFault,
                                        action<&LinkEffect::grow>(*this, step + 1));
    }
  }

  void impair(double ber) {
    const CableId cable = spec_.on.cable();
    LinkImpairment impairment;
    switch (spec_.kind) {
      case EffectKind::kLinkLoss:
        impairment.loss_ratio = spec_.ratio;
        break;
      case EffectKind::kLinkBer: {
        const Fabric& fabric = world_->fabric();
        const LinkQuality quality =
            link_quality(ber, kFrameBytes, fabric.tier(fabric.tier_of(cable)).llr);
        impairment.loss_ratio = quality.loss_ratio;
        impairment.capacity_ratio = quality.capacity_ratio;
        break;
      }
      case EffectKind::kLinkRate:
        impairment.capacity_ratio = spec_.rate_left;
        break;
      default:
        impairment.delay = spec_.delay;
    }
    if (spec_.kind != EffectKind::kLinkRate) {
      impairment.packets = filter_of(spec_.packets);
    }
    if (spec_.direction != EffectDirection::kDown) {
      active_.push_back(world_->links().add(Fabric::up(cable), impairment));
    }
    if (spec_.direction != EffectDirection::kUp) {
      active_.push_back(world_->links().add(Fabric::down(cable), impairment));
    }
  }

  void heal() {
    for (const ImpairmentId id : active_) {
      world_->links().remove(id);
    }
    active_.clear();
  }

  EffectSpec spec_;
  World* world_ = nullptr;
  std::vector<ImpairmentId> active_;
  std::optional<EventHandle> next_;
};

/// Every link that ends at a switch: a packet that the switch forwards comes in over one of them.
class SwitchLoss final : public Effect {
 public:
  explicit SwitchLoss(const EffectSpec& spec) : spec_(spec) {}

  void apply(World& world) override {
    const Fabric& fabric = world.fabric();
    LinkImpairment impairment;
    impairment.loss_ratio = spec_.ratio;
    impairment.packets = filter_of(spec_.packets);
    for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
      const CableId cable(c);
      if (fabric.upper_switch(cable) == spec_.on.switch_id()) {
        active_.push_back(world.links().add(Fabric::up(cable), impairment));
      } else if (!fabric.is_access(cable) && fabric.lower_switch(cable) == spec_.on.switch_id()) {
        active_.push_back(world.links().add(Fabric::down(cable), impairment));
      }
    }
  }

  void revert(World& world) override {
    for (const ImpairmentId id : active_) {
      world.links().remove(id);
    }
    active_.clear();
  }

 private:
  EffectSpec spec_;
  std::vector<ImpairmentId> active_;
};

}  // namespace

std::unique_ptr<Effect> make_link_effect(const EffectSpec& spec) {
  if (spec.kind == EffectKind::kSwitchLoss) {
    return spec.on.kind == RefKind::kSwitch ? std::make_unique<SwitchLoss>(spec) : nullptr;
  }
  const bool fits = spec.on.kind == RefKind::kCable || spec.on.kind == RefKind::kPort;
  const bool grows = spec.kind == EffectKind::kLinkBer && spec.over > Duration::zero();
  if (!fits || (grows && (spec.ber_from <= 0.0 || spec.ber <= 0.0))) {
    return nullptr;
  }
  return std::make_unique<LinkEffect>(spec);
}

}  // namespace bonescan
