// Ticks at phase + n * period, some of which do not happen.
//
// The revalidator of a host sweeps like this, and an RNIC refreshes its flow counters like this.
// While the process is stopped or the counters are frozen there is a gap, and ticks inside a gap
// do not happen.  The period may change: from then on ticks are on another grid (an era).
// Invariants: 1. gaps are disjoint and ascending; 2. only the last may be open; 3. every era but
// the first begins with a tick.
#pragma once

#include "sim/base/check.h"
#include "sim/base/units.h"

#include <algorithm>
#include <cstddef>
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

  /// Ticks at `from`, and then every `period`.  REQUIRES: `from` after every earlier restart.
  void restart(Time from, Duration period) {
    BONESCAN_CHECK(period > Duration::zero() && (eras_.empty() || from > eras_.back().phase));
    if (period != this->period() || grid_at_or_after(from) != from) {
      eras_.push_back({from, period});
    }
  }

  /// The newest.
  Duration period() const { return eras_.empty() ? period_ : eras_.back().period; }

 private:
  struct Era {
    Time phase;  ///< of its first tick
    Duration period{};
  };

  struct Gap {
    Time from;
    Time to;
  };

  static Time grid_at_or_after(const Era& era, Time t) {
    const Duration since = t - era.phase;
    if (since <= Duration::zero()) {
      return era.phase - ((-since) / era.period) * era.period;
    }
    return era.phase + ((since + era.period - Duration(1)) / era.period) * era.period;
  }

  /// Index of the era of `t`; 0 is the one before all restarts.
  std::size_t era_at(Time t) const {
    std::size_t era = eras_.size();
    while (era > 0 && eras_[era - 1].phase > t) {
      --era;
    }
    return era;
  }

  Era era(std::size_t index) const { return index == 0 ? Era{phase_, period_} : eras_[index - 1]; }

  Time grid_at_or_after(Time t) const {
    if (eras_.empty()) [[likely]] {
      return grid_at_or_after({phase_, period_}, t);
    }
    const std::size_t index = era_at(t);
    const Time tick = grid_at_or_after(era(index), t);
    return index < eras_.size() ? std::min(tick, eras_[index].phase) : tick;
  }

  Time grid_at_or_before(Time t) const {
    const Era now = era(era_at(t));
    const Time next = grid_at_or_after(now, t);
    return next == t ? t : next - now.period;
  }

  Time phase_;
  Duration period_ = std::chrono::seconds(1);
  std::vector<Gap> gaps_;
  std::vector<Era> eras_;  ///< ascending
};

}  // namespace bonescan
