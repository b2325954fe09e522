// Is it the network or the host at the far end?  Three probes at once, over three paths.
//
// As published (@paper ByteTracker, SIGCOMM 2025, second hand): where one or two of the three time
// out it is the network, where all three do it is the host; no neighbours are asked, unlike a
// ToR-mesh.  A switch is blamed only after five independent probes.
// Our reading: an access link that all three paths cross cannot be told from its host.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bonescan {

enum class PathOutcome : std::uint8_t {
  kUntried,  ///< not sent, or a local error
  kAnswered,
  kTimedOut,
};

enum class HostOrNetwork : std::uint8_t {
  kUnknown,  ///< fewer than three were tried
  kHealthy,
  kNetwork,
  kHost,
};

std::string_view to_string(HostOrNetwork finding);

HostOrNetwork three_path_test(const std::array<PathOutcome, 3>& outcomes);

}  // namespace bonescan
