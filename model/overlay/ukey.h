// The life of what Open vSwitch keeps about one installed datapath flow (its ukey).
//
//   created -> visible -> operational -> (inconsistent ->) evicting -> evicted -> deleted
//
// A handler makes it and makes it visible, then installs the flow; a revalidator evicts the flow
// and deletes the ukey.  A refused install goes from visible straight to evicting, and may be
// found gone at any later step.  "Inconsistent" says that the datapath no longer holds what the
// ukey says it does; the model goes there when an eswitch entry is deleted behind Open vSwitch's
// back (the mapping is ours).  Source of the order and the allowed steps: Open vSwitch, in our
// words.
// Invariants: 1. a state only moves forward; a step back aborts and names who made the last step;
// 2. a flow that is installed again has a new ukey, and only after the old one is deleted.
// Two bytes, moved only where a flow changes its place: a hit costs nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace bonescan {

enum class UkeyState : std::uint8_t {
  kCreated,
  kVisible,
  kOperational,
  kInconsistent,
  kEvicting,
  kEvicted,
  kDeleted,
};

/// Who makes a step.
enum class UkeyActor : std::uint8_t {
  kNobody,
  kHandler,
  kRevalidator,
  kOutsider,  ///< the datapath was changed by somebody else
};

std::string_view to_string(UkeyState state);
std::string_view to_string(UkeyActor actor);

/// May a ukey go from one to the other in a single step?
constexpr bool is_ukey_step(UkeyState from, UkeyState to) {
  if (from == UkeyState::kVisible) {
    return to > from && to < UkeyState::kDeleted;
  }
  return static_cast<int>(to) == static_cast<int>(from) + 1 ||
         (from == UkeyState::kOperational && to == UkeyState::kEvicting);
}

class Ukey final {
 public:
  /// No flow is installed.
  constexpr Ukey() = default;

  UkeyState state() const { return state_; }

  UkeyActor last_actor() const { return actor_; }

  bool is_installed() const { return state_ != UkeyState::kDeleted; }

  /// A new ukey in the place of a deleted one.  Aborts if there still is one.
  void create(UkeyActor actor) {
    if (state_ != UkeyState::kDeleted) [[unlikely]] {
      wrong_step(UkeyState::kCreated);
    }
    state_ = UkeyState::kCreated;
    actor_ = actor;
  }

  /// One step.  Aborts unless is_ukey_step().
  void move_to(UkeyState next, UkeyActor actor) {
    if (!is_ukey_step(state_, next)) [[unlikely]] {
      wrong_step(next);
    }
    state_ = next;
    actor_ = actor;
  }

 private:
  [[noreturn]] void wrong_step(UkeyState next) const;

  UkeyState state_ = UkeyState::kDeleted;
  UkeyActor actor_ = UkeyActor::kNobody;
};

/// A handler installs a flow: created, visible, operational.
inline void install(Ukey& ukey) {
  ukey.create(UkeyActor::kHandler);
  ukey.move_to(UkeyState::kVisible, UkeyActor::kHandler);
  ukey.move_to(UkeyState::kOperational, UkeyActor::kHandler);
}

/// A revalidator removes it: evicting, evicted, deleted.
inline void evict(Ukey& ukey) {
  ukey.move_to(UkeyState::kEvicting, UkeyActor::kRevalidator);
  ukey.move_to(UkeyState::kEvicted, UkeyActor::kRevalidator);
  ukey.move_to(UkeyState::kDeleted, UkeyActor::kRevalidator);
}

/// Somebody else changed the flow in the datapath.
inline void lose_track(Ukey& ukey) {
  if (ukey.state() == UkeyState::kOperational) {
    ukey.move_to(UkeyState::kInconsistent, UkeyActor::kOutsider);
  }
}

}  // namespace bonescan
