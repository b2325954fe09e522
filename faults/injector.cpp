#include "faults/injector.h"

namespace bonescan {

Expected<void> Injector::schedule(const std::vector<FaultSpec>& faults) {
  for (const FaultSpec& fault : faults) {
    Planned planned;
    for (const EffectSpec& spec : fault.effects) {
      auto effect = make_effect(spec);
      if (!effect) {
        return fail(ErrorCode::kInvalid, "fault \"" + fault.name + "\": " + effect.error().detail);
      }
      planned.effects.push_back(std::move(*effect));
    }
    planned_.push_back(std::move(planned));
    const std::uint64_t index = planned_.size() - 1;
    world_->engine().schedule(
        fault.at, EventPriority::kFault, action<&Injector::begin>(*this, index));
    if (fault.duration > Duration::zero()) {
      world_->engine().schedule(
          fault.at + fault.duration, EventPriority::kFault, action<&Injector::end>(*this, index));
    }
  }
  return {};
}

void Injector::begin(std::uint64_t fault) {
  for (const auto& effect : planned_[fault].effects) {
    effect->apply(*world_);
  }
  if (observer_ != nullptr) {
    observer_(subject_, fault, true);
  }
}

void Injector::end(std::uint64_t fault) {
  for (const auto& effect : planned_[fault].effects) {
    effect->revert(*world_);
  }
  if (observer_ != nullptr) {
    observer_(subject_, fault, false);
  }
}

}  // namespace bonescan
