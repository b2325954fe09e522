// Levels of round-trip times, collected over long periods.
//
// Intuition: the long-term rules want one number a pair and half hour, but visits of a turn come in
// any order.  Levels are therefore kept as integers (ln of microseconds times 2^20), whose sums do
// not depend on order, and every pair has room for two periods: the one that is open and the next,
// since a visit of the next may be complete before the last one of this is.
#pragma once

#include "sim/base/units.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bonescan {

constexpr double kLevelUnit = 0x1.0p20;

/// ln(us) in units of 2^-20.  REQUIRES: us > 0.
std::int64_t level_of_us(double us);

constexpr double log_of_level(std::int64_t level) {
  return static_cast<double>(level) / kLevelUnit;
}

/// The median of a visit's answered RTTs in us; nothing if none was answered.  The first probe of a
/// cold visit is left out: it measures the upcall, not the path.
std::optional<double> visit_median_us(std::span<const std::uint32_t> rtts_ns,
                                      bool cold,
                                      std::vector<std::uint32_t>& scratch);

/// Which period is open, and when it closes: `settle` after its end, when its last visits are in.
class PeriodClock final {
 public:
  /// REQUIRES: length > 0, 0 <= settle < length.
  PeriodClock(Duration length, Duration settle);

  std::int64_t open() const { return open_; }

  std::int64_t period_of(Time at) const;

  Time start_of(std::int64_t period) const { return kStartOfRun + period * length_; }

  /// Is there room for its samples: the open period or the next?
  bool accepts(std::int64_t period) const { return period == open_ || period == open_ + 1; }

  /// Where samples of a period lie.
  static std::size_t slot(std::int64_t period) { return static_cast<std::size_t>(period & 1); }

  /// Calls `close_period(period)` for every period that is due, in order.  Of a long silence only
  /// two can hold samples; the rest is passed over.
  template <class F>
  void close_due(Time now, F&& close_period) {
    for (int closed = 0; due(now) && closed < 2; ++closed) {
      close_period(open_++);
    }
    if (due(now)) {
      open_ = std::max(open_, period_of(now - settle_));
    }
  }

 private:
  bool due(Time now) const { return start_of(open_ + 1) + settle_ <= now; }

  Duration length_;
  Duration settle_;
  std::int64_t open_ = 0;
};

}  // namespace bonescan
