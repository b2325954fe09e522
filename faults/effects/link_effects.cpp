// link.loss and link.delay: impairments of the directed links of one cable.
#include "faults/effects/effect.h"

#include <vector>

namespace bonescan {
namespace {

class LinkEffect final : public Effect {
 public:
  explicit LinkEffect(const EffectSpec& spec) : spec_(spec) {}

  void apply(World& world) override {
    LinkImpairment impairment;
    if (spec_.kind == EffectKind::kLinkLoss) {
      impairment.loss_ratio = spec_.ratio;
    } else {
      impairment.delay = spec_.delay;
    }
    impairment.packets = {.min_bytes = spec_.packets.min_bytes,
                          .max_bytes = spec_.packets.max_bytes,
                          .dscp = spec_.packets.dscp,
                          .flow_share = spec_.packets.flow_share};
    const CableId cable = spec_.on.cable();
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
  return spec.on.kind == RefKind::kCable ? std::make_unique<LinkEffect>(spec) : nullptr;
}

}  // namespace bonescan
