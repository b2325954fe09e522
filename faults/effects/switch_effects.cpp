// switch.down: a switch that is gone, with every cable that ends at it.
#include "faults/effects/effect.h"

#include <vector>

namespace bonescan {
namespace {

std::vector<CableId> cables_at(const Fabric& fabric, SwitchId id) {
  std::vector<CableId> cables;
  for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
    const CableId cable(c);
    const bool below = !fabric.is_access(cable) && fabric.lower_switch(cable) == id;
    if (below || fabric.upper_switch(cable) == id) {
      cables.push_back(cable);
    }
  }
  return cables;
}

class SwitchDown final : public Effect {
 public:
  explicit SwitchDown(SwitchId id) : id_(id) {}

  void apply(World& world) override {
    for (const CableId cable : cables_at(world.fabric(), id_)) {
      world.set_port_down(cable);
    }
  }

  void revert(World& world) override {
    for (const CableId cable : cables_at(world.fabric(), id_)) {
      world.set_port_up(cable);
    }
  }

 private:
  SwitchId id_;
};

}  // namespace

std::unique_ptr<Effect> make_switch_effect(const EffectSpec& spec) {
  return spec.on.kind == RefKind::kSwitch ? std::make_unique<SwitchDown>(spec.on.switch_id())
                                          : nullptr;
}

}  // namespace bonescan
