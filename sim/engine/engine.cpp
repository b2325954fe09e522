#include "sim/engine/engine.h"

#include "sim/base/check.h"

namespace bonescan {

EventHandle Engine::schedule(Time at, EventPriority priority, EventAction what) {
  BONESCAN_CHECK(at >= now());
  BONESCAN_CHECK(what.run != nullptr);
  return queue_.push(at, priority, what);
}

void Engine::run_until(Time until) {
  BONESCAN_CHECK(until >= now());
  while (!queue_.empty() && *queue_.next_time() <= until) {
    run_next();
  }
  queue_.advance_to(until);
}

bool Engine::step() {
  if (queue_.empty()) {
    return false;
  }
  run_next();
  return true;
}

void Engine::run_next() {
  BONESCAN_CHECK(!inside_action_);
  const Event event = queue_.pop();
  inside_action_ = true;
  event.action.run(event.action.subject, event.action.argument);
  inside_action_ = false;
  ++processed_;
}

}  // namespace bonescan
