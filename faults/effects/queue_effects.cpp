// cc.off: the queues of a switch do not mark, so nobody slows down for them (LoadModel::kLinks).
#include "faults/effects/effect.h"

namespace bonescan {
namespace {

class ControlOff final : public Effect {
 public:
  explicit ControlOff(SwitchId id) : id_(id) {}

  void apply(World& world) override { world.queue_control().switch_off(id_); }

  void revert(World& world) override { world.queue_control().switch_on(id_); }

 private:
  SwitchId id_;
};

}  // namespace

std::unique_ptr<Effect> make_queue_effect(const EffectSpec& spec) {
  if (spec.on.kind == RefKind::kSwitch) {
    return std::make_unique<ControlOff>(spec.on.switch_id());
  }
  return nullptr;
}

}  // namespace bonescan
