#include "detectors/telemetry/probe.h"

namespace bonescan {

std::string_view to_string(LocalError error) {
  switch (error) {
    case LocalError::kOther:
      return "other";
    case LocalError::kNoDevice:
      return "no-device";
    case LocalError::kPortDown:
      return "port-down";
    case LocalError::kNoRoute:
      return "no-route";
    case LocalError::kNoPeerAddress:
      return "no-peer-address";
    case LocalError::kQueueFull:
      return "queue-full";
    case LocalError::kSendFailed:
      return "send-failed";
    case LocalError::kThrottled:
      return "throttled";
    case LocalError::kBadTimestamps:
      return "bad-timestamps";
  }
  return "unknown";
}

std::string_view to_string(TimestampSource source) {
  switch (source) {
    case TimestampSource::kModel:
      return "model";
    case TimestampSource::kHost:
      return "host";
    case TimestampSource::kDevice:
      return "device";
    case TimestampSource::kMixed:
      return "mixed";
  }
  return "unknown";
}

}  // namespace bonescan
