#include "detectors/telemetry/inspection.h"

namespace bonescan {

std::string_view to_string(MembershipKind kind) {
  switch (kind) {
    case MembershipKind::kReady:
      return "ready";
    case MembershipKind::kStopping:
      return "stopping";
    case MembershipKind::kGone:
      return "gone";
    case MembershipKind::kAddressChanged:
      return "address-changed";
    case MembershipKind::kSubmitted:
      return "submitted";
  }
  return "unknown";
}

}  // namespace bonescan
