// hash.change and cable.swap: packets take other ways than they were planned to.
#include "faults/effects/effect.h"

namespace bonescan {
namespace {

/// One bit of the hash is left.
class HashChange final : public Effect {
 public:
  explicit HashChange(SwitchId id) : id_(id) {}

  void apply(World& world) override { world.router().begin_one_bit(id_); }

  void revert(World& world) override { world.router().end_one_bit(id_); }

 private:
  SwitchId id_;
};

class CableSwap final : public Effect {
 public:
  CableSwap(RnicId one, RnicId other) : one_(one), other_(other) {}

  void apply(World& world) override { world.router().swap_cables(one_, other_); }

  void revert(World& world) override { world.router().unswap_cables(one_, other_); }

 private:
  RnicId one_;
  RnicId other_;
};

}  // namespace

std::unique_ptr<Effect> make_route_effect(const EffectSpec& spec) {
  if (spec.kind == EffectKind::kHashChange) {
    return spec.on.kind == RefKind::kSwitch ? std::make_unique<HashChange>(spec.on.switch_id())
                                            : nullptr;
  }
  if (spec.on.kind != RefKind::kRnic || !spec.peer || *spec.peer == spec.on.rnic()) {
    return nullptr;
  }
  return std::make_unique<CableSwap>(spec.on.rnic(), *spec.peer);
}

}  // namespace bonescan
