// An alarm clock on the engine: rings once or periodically, and is silent once it is gone.
//
// Why not a bare event: its owner may die, or change its mind, before the event is due.  A Timer
// cancels in its destructor, so it cannot call into an owner of which it is a member after that
// owner's end.  A periodic timer rings at first + k * period exactly; it does not drift.
// Invariant: at most one event is pending per timer.  Thread-compatible, like its engine.
#pragma once

#include "sim/base/check.h"
#include "sim/base/units.h"
#include "sim/engine/engine.h"

#include <cstdint>

namespace bonescan {

class Timer final {
 public:
  /// `engine` and the action's subject must outlive the timer.
  Timer(Engine& engine, EventPriority priority, EventAction ring)
      : engine_(engine), ring_(ring), priority_(priority) {}

  ~Timer() { cancel(); }

  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  bool armed() const { return engine_.pending(event_); }

  /// Rings once; replaces what was armed before.  REQUIRES: at >= now.
  void arm_at(Time at) { arm(at, Duration::zero()); }

  /// Rings at first, first + period and so on; replaces what was armed before.
  /// REQUIRES: first >= now, period > 0.
  void arm_every(Time first, Duration period) {
    BONESCAN_CHECK(period > Duration::zero());
    arm(first, period);
  }

  void cancel() { engine_.cancel(event_); }

 private:
  void arm(Time at, Duration period) {
    cancel();
    period_ = period;
    event_ = engine_.schedule(at, priority_, action<&Timer::fire>(*this));
  }

  void fire(std::uint64_t /*argument*/) {
    if (period_ > Duration::zero()) {
      event_ = engine_.schedule(engine_.now() + period_, priority_, action<&Timer::fire>(*this));
    }
    // The action may cancel, arm again, or destroy this timer: nothing of it is touched after.
    const EventAction ring = ring_;
    ring.run(ring.subject, ring.argument);
  }

  Engine& engine_;
  EventAction ring_;
  EventPriority priority_;
  Duration period_ = Duration::zero();
  EventHandle event_;
};

}  // namespace bonescan
