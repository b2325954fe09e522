#include "model/fabric/link_physics.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

constexpr int kSymbols = 544;     ///< of a codeword
constexpr int kCorrectable = 15;  ///< of them
constexpr int kBitsPerSymbol = 10;
constexpr double kPayloadBytes = 642.5;  ///< 514 symbols

}  // namespace

double corruption_loss_quantile(double u) {
  double below = 0.0;
  for (const CorruptionShare& row : kCorrOpt) {
    if (u <= below + row.share) {
      const double place = std::max(0.0, (u - below) / row.share);
      return row.loss_from * std::pow(row.loss_to / row.loss_from, place);
    }
    below += row.share;
  }
  return kCorrOpt.back().loss_to;
}

double kp4_codeword_loss(double pre_fec_ber) {
  if (pre_fec_ber <= 0.0) {
    return 0.0;
  }
  const double symbol_error = -std::expm1(kBitsPerSymbol * std::log1p(-pre_fec_ber));
  const double log_error = std::log(symbol_error);
  const double log_good = std::log1p(-symbol_error);
  // The upper tail itself, summed from its small end: one minus the rest would lose every digit.
  double tail = 0.0;
  for (int errors = kSymbols; errors > kCorrectable; --errors) {
    const double log_ways = std::lgamma(kSymbols + 1.0) - std::lgamma(errors + 1.0) -
                            std::lgamma(kSymbols - errors + 1.0);
    tail += std::exp(log_ways + errors * log_error + (kSymbols - errors) * log_good);
  }
  return std::min(tail, 1.0);
}

double kp4_frame_loss(double pre_fec_ber, std::uint32_t frame_bytes) {
  const double codewords = std::max(1.0, std::ceil(frame_bytes / kPayloadBytes));
  const double lost = kp4_codeword_loss(pre_fec_ber);
  return lost >= 1.0 ? 1.0 : -std::expm1(codewords * std::log1p(-lost));
}

double retry_effective_loss(double raw_loss) {
  if (raw_loss <= 0.0 || raw_loss >= 1.0) {
    return std::clamp(raw_loss, 0.0, 1.0);
  }
  // A ratio that is whole but for rounding stands for itself.
  const double needed = std::log(kRetryTargetLoss) / std::log(raw_loss);
  return std::pow(raw_loss, std::max(1.0, std::ceil(needed - 1e-9)));
}

double retry_capacity_ratio(double raw_loss) {
  if (raw_loss <= 0.0) {
    return 1.0;
  }
  if (raw_loss <= kLinkGuardian.front().raw_loss) {
    return kLinkGuardian.front().capacity_ratio;
  }
  for (std::size_t i = 1; i < kLinkGuardian.size(); ++i) {
    const RetryPoint& low = kLinkGuardian[i - 1];
    const RetryPoint& high = kLinkGuardian[i];
    if (raw_loss <= high.raw_loss) {
      const double place =
          std::log(raw_loss / low.raw_loss) / std::log(high.raw_loss / low.raw_loss);
      return low.capacity_ratio + place * (high.capacity_ratio - low.capacity_ratio);
    }
  }
  // Nothing was measured beyond; retry needs ever more copies, so less is left than at the end.
  return kLinkGuardian.back().capacity_ratio * (1.0 - std::min(raw_loss, 1.0));
}

LinkQuality link_quality(double pre_fec_ber, std::uint32_t frame_bytes, bool llr) {
  const double raw = kp4_frame_loss(pre_fec_ber, frame_bytes);
  if (!llr) {
    return {.loss_ratio = raw, .capacity_ratio = 1.0 - raw};
  }
  return {.loss_ratio = retry_effective_loss(raw), .capacity_ratio = retry_capacity_ratio(raw)};
}

}  // namespace bonescan
