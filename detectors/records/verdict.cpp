#include "detectors/records/verdict.h"

namespace bonescan {

std::string_view to_string(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kHealthy:
      return "healthy";
    case VerdictKind::kAnomalous:
      return "anomalous";
    case VerdictKind::kUnreachable:
      return "unreachable";
    case VerdictKind::kInsufficientData:
      return "insufficient-data";
  }
  return "unknown";
}

std::string_view to_string(VerdictRule rule) {
  switch (rule) {
    case VerdictRule::kConsecutiveLoss:
      return "consecutive-loss";
    case VerdictRule::kPooledLoss:
      return "pooled-loss";
    case VerdictRule::kWindowLof:
      return "window-lof";
    case VerdictRule::kShift:
      return "shift";
    case VerdictRule::kLongTermZ:
      return "long-term-z";
    case VerdictRule::kDrift:
      return "drift";
    case VerdictRule::kOther:
      return "other";
  }
  return "unknown";
}

}  // namespace bonescan
