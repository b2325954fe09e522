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
  kConsecutiveLoss,  ///< one pair, probes in a row
  kPooledLoss,       ///< lossy visits of pairs that share a component
  kWindowLof,        ///< a window's shape against the pair's own last ones
  kShift,            ///< a visit's level against the pair's own
  kLongTermZ,        ///< the published test at its three lags
  kDrift,            ///< a level that creeps away from a slow reference
  kOther,            ///< a rule of somebody else's detector
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
  /// Natural logarithm of the probability of such a score where nothing is wrong; 0 if the rule has
  /// no such figure.
  float log_p = 0.0F;
};

}  // namespace bonescan
