// Completion timestamps and the clock that made them.
//
// A device stamps completions with a counter of its own: free-running, of its own rate, narrower
// than 64 bits on some.  Two stamps are only ever subtracted, and only if one clock made both.
// Where a device has no such clock the host's takes its place, which the record says.
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <optional>

namespace bonescan::verbs {

/// A counter that wraps at `mask` and ticks `khz` thousand times a second.
struct DeviceClock {
  bool device = false;  ///< false: stamps are host time in nanoseconds
  std::uint64_t mask = ~std::uint64_t{0};
  std::uint64_t khz = 1'000'000;

  constexpr bool operator==(const DeviceClock&) const = default;
};

/// The host's monotonic clock since the start of the run.  Thread-safe.
class HostClock {
 public:
  virtual ~HostClock() = default;
  virtual Time now() const = 0;
};

/// Nearest nanosecond.  Valid for less than half the range of the counter.
/// @errors nullopt if `to` is before `from`
constexpr std::optional<Duration> elapsed(const DeviceClock& clock,
                                          std::uint64_t from,
                                          std::uint64_t to) {
  const std::uint64_t ticks = (to - from) & clock.mask;
  if (ticks > clock.mask / 2 || clock.khz == 0) {
    return std::nullopt;
  }
  const auto ns = (static_cast<Int128>(ticks) * 1'000'000 + static_cast<Int128>(clock.khz / 2)) /
                  static_cast<Int128>(clock.khz);
  constexpr Int128 kLongest = Duration::max().count();
  return Duration(static_cast<std::int64_t>(ns < kLongest ? ns : kLongest));
}

}  // namespace bonescan::verbs
