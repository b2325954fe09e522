// An effect that comes and goes by itself while its fault lasts: a port that flaps, entries that
// are invalidated and put back.
//
// Invariants: 1. it begins broken; 2. after revert() it is whole, and no event is left.
#pragma once

#include "faults/effects/effect.h"

#include <cstdint>
#include <optional>

namespace bonescan {

class Alternating : public Effect {
 public:
  Alternating(Duration broken, Duration whole) : broken_(broken), whole_(whole) {}

  void apply(World& world) final;
  void revert(World& world) final;

 private:
  /// Called with true and false in turn, true first.
  virtual void set_broken(World& world, bool broken) = 0;

  void toggle(std::uint64_t unused);

  Duration broken_;
  Duration whole_;
  World* world_ = nullptr;
  bool is_broken_ = false;
  std::optional<EventHandle> next_;
};

}  // namespace bonescan
