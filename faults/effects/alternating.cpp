#include "faults/effects/alternating.h"

namespace bonescan {

void Alternating::apply(World& world) {
  world_ = &world;
  toggle(0);
}

void Alternating::revert(World& world) {
  if (next_) {
    world.engine().cancel(*next_);
    next_.reset();
  }
  if (is_broken_) {
    is_broken_ = false;
    set_broken(world, false);
  }
}

void Alternating::toggle(std::uint64_t /*unused*/) {
  is_broken_ = !is_broken_;
  set_broken(*world_, is_broken_);
  next_ = world_->engine().schedule(world_->engine().now() + (is_broken_ ? broken_ : whole_),
                                    EventPriority::kFault,
                                    action<&Alternating::toggle>(*this));
}

}  // namespace bonescan
