// link.loss, link.delay and link.ber: impairments of the directed links of one cable.
#include "faults/effects/effect.h"
#include "model/fabric/link_physics.h"

#include <vector>

namespace bonescan {
namespace {

/// Bit errors hit frames by their length; one length stands for all.  @source ours
constexpr std::uint32_t kFrameBytes = 1'024;

class LinkEffect final : public Effect {
 public:
  explicit LinkEffect(const EffectSpec& spec) : spec_(spec) {}

  void apply(World& world) override {
    const CableId cable = spec_.on.cable();
    LinkImpairment impairment;
    switch (spec_.kind) {
      case EffectKind::kLinkLoss:
        impairment.loss_ratio = spec_.ratio;
        break;
      case EffectKind::kLinkBer: {
        const Fabric& fabric = world.fabric();
        const LinkQuality quality =
            link_quality(spec_.ber, kFrameBytes, fabric.tier(fabric.tier_of(cable)).llr);
        impairment.loss_ratio = quality.loss_ratio;
        impairment.capacity_ratio = quality.capacity_ratio;
        break;
      }
      default:
        impairment.delay = spec_.delay;
    }
    impairment.packets = {.min_bytes = spec_.packets.min_bytes,
                          .max_bytes = spec_.packets.max_bytes,
                          .dscp = spec_.packets.dscp,
                          .flow_share = spec_.packets.flow_share};
    if (spec_.direction != EffectDirection::kDown) {
      active_.push_back(world.links().add(Fabric::up(cable), impairment));
    }
    if (spec_.direction != EffectDirection::kUp) {
      active_.push_back(world.links().add(Fabric::down(cable), impairment));
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
  const bool fits = spec.on.kind == RefKind::kCable || spec.on.kind == RefKind::kPort;
  return fits ? std::make_unique<LinkEffect>(spec) : nullptr;
}

}  // namespace bonescan
