// What the detectors say about one pair at one moment.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstdint>
#include <string_view>

namespace bonescan {

enum class VerdictKind : std::uint8_t {
  kHealthy,
  kAnomalous,         ///< late, or losing some probes
  kUnreachable,       ///< losing all of them
  kInsufficientData,  ///< nothing can be said; not the same as healthy
};

std::string_view to_string(VerdictKind kind);

/// Which rule spoke.
enum class VerdictRule : std::uint8_t {
  kConsecutiveLoss,
  kPooledLoss,
  kWindowLof
};

std::string_view to_string(VerdictRule rule);

/// A verdict that is worth keeping (healthy ones are not stored).
struct Verdict {
  Time at;
  PairId pair;
  VerdictKind kind = VerdictKind::kHealthy;
  VerdictRule rule = VerdictRule::kWindowLof;
  float score = 0.0F;   ///< LOF, or losses in the visit
  float factor = 1.0F;  ///< median RTT over the history's median; 1 where loss spoke
};

}  // namespace bonescan
