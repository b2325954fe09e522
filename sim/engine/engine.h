// The discrete-event kernel: runs actions at their times, and knows nothing about networks.
//
// Only rare things are events (a fault, a container start, the close of a window); what happens
// between two events is a closed form of time, and no business of the engine.  An action may
// schedule and cancel anything that is not in the past, including events of its own instant.
// Invariants: 1. actions run in the order (time, priority, order of scheduling); 2. now() never
// runs backwards; 3. inside an action now() is the time for which it was scheduled.
// Thread-compatible; an action that wants threads uses Workers and returns when they are done.
#pragma once

#include "sim/base/units.h"
#include "sim/engine/event_queue.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace bonescan {

/// Binds a member function: `engine.schedule(at, kState, action<&Host::restart>(host, rack))`.
template <auto Method, class T>
EventAction action(T& subject, std::uint64_t argument = 0) {
  return {
      .run = [](void* object, std::uint64_t value) { (static_cast<T*>(object)->*Method)(value); },
      .subject = std::addressof(subject),
      .argument = argument,
  };
}

class Engine final {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Time now() const { return queue_.now(); }

  /// When the next living event is due; none if nothing is scheduled.
  std::optional<Time> next_event_time() const { return queue_.next_time(); }

  bool pending(EventHandle handle) const { return queue_.pending(handle); }

  /// Actions run so far.
  std::uint64_t processed() const { return processed_; }

  /// REQUIRES: at >= now(), and the action has a function to run.
  EventHandle schedule(Time at, EventPriority priority, EventAction what);

  /// False if the event has run (or is running) or was cancelled before.
  bool cancel(EventHandle handle) { return queue_.cancel(handle); }

  /// Runs every event with time <= until, then sets now() to until.
  /// REQUIRES: until >= now(); not called from inside an action.
  void run_until(Time until);

  /// Runs the next event; false if there is none.  REQUIRES: not called from inside an action.
  bool step();

 private:
  void run_next();

  EventQueue queue_;
  std::uint64_t processed_ = 0;
  bool inside_action_ = false;
};

}  // namespace bonescan
