#include "model/overlay/ukey.h"

#include "sim/base/check.h"

#include <fmt/format.h>

namespace bonescan {
namespace {

[[noreturn]] void wrong_step(UkeyState from, UkeyState to, UkeyActor last) {
  const std::string text = fmt::format(
      "ukey step from {} to {}, last step by {}", to_string(from), to_string(to), to_string(last));
  check_failed(text.c_str(), __FILE__, __LINE__);
}

}  // namespace

std::string_view to_string(UkeyState state) {
  switch (state) {
    case UkeyState::kCreated:
      return "created";
    case UkeyState::kVisible:
      return "visible";
    case UkeyState::kOperational:
      return "operational";
    case UkeyState::kInconsistent:
      return "inconsistent";
    case UkeyState::kEvicting:
      return "evicting";
    case UkeyState::kEvicted:
      return "evicted";
    case UkeyState::kDeleted:
      return "deleted";
  }
  return "unknown";
}

std::string_view to_string(UkeyActor actor) {
  switch (actor) {
    case UkeyActor::kNobody:
      return "nobody";
    case UkeyActor::kHandler:
      return "a handler";
    case UkeyActor::kRevalidator:
      return "a revalidator";
    case UkeyActor::kOutsider:
      return "an outsider";
  }
  return "unknown";
}

void Ukey::create(UkeyActor actor) {
  if (state_ != UkeyState::kDeleted) {
    wrong_step(state_, UkeyState::kCreated, actor_);
  }
  state_ = UkeyState::kCreated;
  actor_ = actor;
}

void Ukey::move_to(UkeyState next, UkeyActor actor) {
  if (!is_ukey_step(state_, next)) {
    wrong_step(state_, next, actor_);
  }
  state_ = next;
  actor_ = actor;
}

void install(Ukey& ukey) {
  ukey.create(UkeyActor::kHandler);
  ukey.move_to(UkeyState::kVisible, UkeyActor::kHandler);
  ukey.move_to(UkeyState::kOperational, UkeyActor::kHandler);
}

void evict(Ukey& ukey) {
  ukey.move_to(UkeyState::kEvicting, UkeyActor::kRevalidator);
  ukey.move_to(UkeyState::kEvicted, UkeyActor::kRevalidator);
  ukey.move_to(UkeyState::kDeleted, UkeyActor::kRevalidator);
}

void lose_track(Ukey& ukey) {
  if (ukey.state() == UkeyState::kOperational) {
    ukey.move_to(UkeyState::kInconsistent, UkeyActor::kOutsider);
  }
}

}  // namespace bonescan
