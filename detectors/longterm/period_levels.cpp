#include "detectors/longterm/period_levels.h"

#include "detectors/telemetry/probe.h"
#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {

std::int64_t level_of_us(double us) {
  return std::llround(std::log(us) * kLevelUnit);
}

std::optional<double> visit_median_us(std::span<const std::uint32_t> rtts_ns,
                                      bool cold,
                                      std::vector<std::uint32_t>& scratch) {
  scratch.clear();
  for (std::size_t i = cold ? 1 : 0; i < rtts_ns.size(); ++i) {
    // A clock may say zero nanoseconds; the logarithm of that is not a level.
    if (answered(rtts_ns[i]) && rtts_ns[i] > 0) {
      scratch.push_back(rtts_ns[i]);
    }
  }
  if (scratch.empty()) {
    return std::nullopt;
  }
  std::sort(scratch.begin(), scratch.end());
  const std::size_t n = scratch.size();
  const double twice = static_cast<double>(scratch[(n - 1) / 2]) + scratch[n / 2];
  return twice / 2e3;
}

PeriodClock::PeriodClock(Duration length, Duration settle) : length_(length), settle_(settle) {
  BONESCAN_CHECK(length > Duration::zero());
  BONESCAN_CHECK(settle >= Duration::zero());
  BONESCAN_CHECK(settle < length);
}

std::int64_t PeriodClock::period_of(Time at) const {
  const Duration since = at - kStartOfRun;
  const std::int64_t whole = since / length_;
  return since % length_ < Duration::zero() ? whole - 1 : whole;
}

}  // namespace bonescan
