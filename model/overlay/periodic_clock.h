// Ticks at phase + n * period, some of which do not happen.
//
// The revalidator of a host sweeps like this, and an RNIC refreshes its flow counters like this.
// While the process is stopped or the counters are frozen there is a gap, and ticks inside a gap
// do not happen.  Invariants: 1. gaps are disjoint and ascending; 2. only the last may be open.
#pragma once

#include "sim/base/check.h"
#include "sim/base/units.h"

#include <vector>

namespace bonescan {

constexpr Time kNever = Time::max();

class PeriodicClock final {
 public:
  PeriodicClock() = default;

  PeriodicClock(Time phase, Duration period) : phase_(phase), period_(period) {
    BONESCAN_CHECK(period > Duration::zero());
  }

  /// First tick that happens at or after `t`; kNever if the clock is stopped for good.
  Time at_or_after(Time t) const {
    Time tick = grid_at_or_after(t);
    for (const Gap& gap : gaps_) {
      if (tick >= gap.from && tick < gap.to) {
        if (gap.to == kNever) {
          return kNever;
        }
        tick = grid_at_or_after(gap.to);
      }
    }
    return tick;
  }

  Time after(Time t) const { return at_or_after(t + Duration(1)); }

  /// Last tick that happened at or before `t`; kStartOfRun - period if there was none.
  Time at_or_before(Time t) const {
    Time tick = grid_at_or_before(t);
    for (auto gap = gaps_.rbegin(); gap != gaps_.rend(); ++gap) {
      if (tick >= gap->from && tick < gap->to) {
        tick = grid_at_or_before(gap->from - Duration(1));
      }
    }
    return tick;
  }

  /// Ticks at or after `from` do not happen until resume().  REQUIRES: not stopped, from >= last
  /// gap.
  void stop(Time from) {
    BONESCAN_CHECK(!stopped());
    gaps_.push_back({from, kNever});
  }

  /// REQUIRES: stopped.
  void resume(Time to) {
    BONESCAN_CHECK(stopped());
    gaps_.back().to = to;
  }

  bool stopped() const { return !gaps_.empty() && gaps_.back().to == kNever; }

  /// True if every tick of the grid in [from, to] happens.
  bool regular(Time from, Time to) const {
    for (const Gap& gap : gaps_) {
      if (gap.from <= to && gap.to > from) {
        return false;
      }
    }
    return true;
  }

  Duration period() const { return period_; }

 private:
  struct Gap {
    Time from;
    Time to;
  };

  Time grid_at_or_after(Time t) const {
    const Duration since = t - phase_;
    if (since <= Duration::zero()) {
      return phase_ - ((-since) / period_) * period_;
    }
    return phase_ + ((since + period_ - Duration(1)) / period_) * period_;
  }

  Time grid_at_or_before(Time t) const {
    const Time next = grid_at_or_after(t);
    return next == t ? t : next - period_;
  }

  Time phase_;
  Duration period_ = std::chrono::seconds(1);
  std::vector<Gap> gaps_;
};

}  // namespace bonescan
