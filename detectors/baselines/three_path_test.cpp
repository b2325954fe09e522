#include "detectors/baselines/three_path_test.h"

#include <algorithm>

namespace bonescan {

std::string_view to_string(HostOrNetwork finding) {
  switch (finding) {
    case HostOrNetwork::kUnknown:
      return "unknown";
    case HostOrNetwork::kHealthy:
      return "healthy";
    case HostOrNetwork::kNetwork:
      return "network";
    case HostOrNetwork::kHost:
      return "host";
  }
  return "unknown";
}

HostOrNetwork three_path_test(const std::array<PathOutcome, 3>& outcomes) {
  const auto untried = std::count(outcomes.begin(), outcomes.end(), PathOutcome::kUntried);
  const auto lost = std::count(outcomes.begin(), outcomes.end(), PathOutcome::kTimedOut);
  if (untried != 0) {
    return HostOrNetwork::kUnknown;
  }
  if (lost == 0) {
    return HostOrNetwork::kHealthy;
  }
  return lost == 3 ? HostOrNetwork::kHost : HostOrNetwork::kNetwork;
}

}  // namespace bonescan
