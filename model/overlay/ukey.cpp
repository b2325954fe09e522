#include "model/overlay/ukey.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <string>

namespace bonescan {

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

void Ukey::wrong_step(UkeyState next) const {
  const std::string text = fmt::format("ukey step from {} to {}, last step by {}",
                                       to_string(state_),
                                       to_string(next),
                                       to_string(actor_));
  check_failed(text.c_str(), __FILE__, __LINE__);
}

}  // namespace bonescan
