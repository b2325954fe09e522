// A megaflow that lives through every tick: the reference for the closed form.
//
// It keeps what OVS and the RNIC keep (a hardware counter, the copy of it that OVS was last told, a
// time of last use) and walks every refresh and every sweep one by one.  Slow and plain on purpose;
// it shares no code with the closed form beyond the option struct.
// At one instant clocks stop or resume first, then counters are refreshed, then the revalidator
// sweeps, then packets pass.
#pragma once

#include "model/overlay/overlay_options.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bonescan::test {

enum class NaivePlace : std::uint8_t {
  kAbsent,
  kOffloaded,
  kSoftware
};

enum class ClockChange : std::uint8_t {
  kFreezeCounters,
  kThawCounters,
  kStopSweeps,
  kResumeSweeps
};

struct TimedChange {
  Time at;
  ClockChange change = ClockChange::kFreezeCounters;
};

class NaiveMegaflow {
 public:
  struct Ticks {
    Duration sweep_phase{};
    Duration sweep_period{};
    Duration refresh_phase{};
  };

  /// `changes` are everything that will ever happen to the two clocks, in order.
  NaiveMegaflow(const OverlayOptions& options, const Ticks& ticks, std::vector<TimedChange> changes)
      : options_(options),
        max_idle_(options.max_idle),
        sweep_period_(ticks.sweep_period),
        next_sweep_(kStartOfRun + ticks.sweep_phase),
        next_refresh_(kStartOfRun + ticks.refresh_phase),
        changes_(std::move(changes)) {}

  NaivePlace place() const { return place_; }

  /// Lives through every tick up to and at `now`.
  void advance(Time now) { advance(now, false); }

  NaivePlace hit(Time now) {
    advance(now);
    return packet(now);
  }

  /// A packet before and after every tick in [from, to], and at both ends.
  void hit_continuously(Time from, Time to) {
    hit(from);
    advance(to, true);
    packet(to);
  }

  /// As a pressed host does just before a sweep: from then on sweeps are `period` apart, flows idle
  /// for `max_idle` go, and new ones are installed, or not.
  void press(Time now, Duration period, Duration max_idle, bool installs) {
    advance(now);
    sweep_period_ = period;
    max_idle_ = max_idle;
    installs_ = installs;
  }

  /// Whether the eswitch has room for the flow the next time that it is installed.
  void set_offloadable(bool offloadable) { offloadable_ = offloadable; }

  void regain_offload(Time now) {
    advance(now);
    if (place_ == NaivePlace::kSoftware) {
      place_ = NaivePlace::kOffloaded;
      offloadable_ = true;
      hardware_count_ = 0;
      told_ = 0;
    }
  }

  void lose_offload(Time now) {
    advance(now);
    if (place_ == NaivePlace::kOffloaded) {
      place_ = NaivePlace::kSoftware;
      used_ = now;
    }
  }

 private:
  void advance(Time now, bool busy) {
    while (true) {
      const bool refresh_first = next_refresh_ <= next_sweep_;
      const Time tick = refresh_first ? next_refresh_ : next_sweep_;
      if (tick > now) {
        change_clocks(now);
        return;
      }
      change_clocks(tick);
      if (busy) {
        packet(tick);
      }
      if (refresh_first) {
        refresh();
        next_refresh_ += options_.counter_refresh;
      } else {
        sweep();
        next_sweep_ += sweep_period_;
      }
      if (busy) {
        packet(tick);
      }
    }
  }

  void change_clocks(Time now) {
    for (; changed_ < changes_.size() && changes_[changed_].at <= now; ++changed_) {
      switch (changes_[changed_].change) {
        case ClockChange::kFreezeCounters:
          frozen_ = true;
          break;
        case ClockChange::kThawCounters:
          frozen_ = false;
          break;
        case ClockChange::kStopSweeps:
          stopped_ = true;
          break;
        case ClockChange::kResumeSweeps:
          stopped_ = false;
          break;
      }
    }
  }

  void refresh() {
    if (frozen_ || place_ != NaivePlace::kOffloaded) {
      return;
    }
    read_counter(next_refresh_);
  }

  /// True if the counter had moved since OVS last knew it.
  bool read_counter(Time now) {
    if (told_ == hardware_count_) {
      return false;
    }
    told_ = hardware_count_;
    used_ = now;
    return true;
  }

  void sweep() {
    const Time now = next_sweep_;
    if (stopped_ || place_ == NaivePlace::kAbsent || now - used_ <= max_idle_) {
      return;
    }
    if (place_ == NaivePlace::kSoftware) {
      place_ = NaivePlace::kAbsent;
      return;
    }
    // Deleting the entry reads its counter a last time, if it can be read.
    if (!frozen_ && read_counter(now)) {
      return;
    }
    const bool coming = last_packet_ >= now - sweep_period_;
    if (frozen_ && coming && options_.reoffload == Reoffload::kNever) {
      place_ = NaivePlace::kSoftware;
      used_ = now;
    } else {
      place_ = NaivePlace::kAbsent;
    }
  }

  NaivePlace packet(Time now) {
    const NaivePlace found = place_;
    last_packet_ = now;
    switch (found) {
      case NaivePlace::kAbsent:
        if (!installs_) {
          break;
        }
        place_ = offloadable_ ? NaivePlace::kOffloaded : NaivePlace::kSoftware;
        hardware_count_ = 0;
        told_ = 0;
        used_ = now;
        break;
      case NaivePlace::kOffloaded:
        ++hardware_count_;
        break;
      case NaivePlace::kSoftware:
        used_ = now;
        break;
    }
    return found;
  }

  OverlayOptions options_;
  Duration max_idle_;
  bool installs_ = true;
  bool offloadable_ = true;
  Duration sweep_period_;
  Time next_sweep_;
  Time next_refresh_;
  std::vector<TimedChange> changes_;
  std::size_t changed_ = 0;
  NaivePlace place_ = NaivePlace::kAbsent;
  bool frozen_ = false;
  bool stopped_ = false;
  std::uint64_t hardware_count_ = 0;  ///< packets that the eswitch entry has forwarded
  std::uint64_t told_ = 0;            ///< what OVS knows of it
  Time used_;
  Time last_packet_;
};

}  // namespace bonescan::test
