// Which endpoints make up a task, and when the last of them is gone.
//
// Intuition: containers come and go one by one, but what is known about pairs can only be thrown
// away when no pair of the task can ever be probed again.
// Invariants: 1. a task is what was submitted together under one name: the same name later is
// another task; 2. a task ends once, and nothing of it is kept afterwards.  Thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "sim/base/paged_column.h"

#include <cstdint>
#include <vector>

namespace bonescan {

class TaskBook final {
 public:
  void submit(const EndpointDirectory& directory, EndpointRange range);

  /// REQUIRES: submitted, its task has not ended; called only where this changes.
  void set_gone(EndpointId endpoint, bool gone);

  /// The endpoints, ascending, of each task whose last endpoint has gone since the last call, in
  /// the order in which the tasks were submitted.  One that came back meanwhile has not ended.
  std::vector<std::vector<EndpointId>> take_ended();

  /// Tasks that have not ended.
  std::size_t task_count() const { return live_; }

  /// Bytes that go when tasks end, and bytes that stay.
  std::size_t held_size() const { return task_of_.held_size() + tasks_.held_size(); }

  std::size_t kept_size() const { return task_of_.kept_size() + tasks_.kept_size(); }

 private:
  using TaskId = StrongId<struct TaskTag>;

  struct Task {
    std::vector<EndpointId> members;
    std::size_t gone = 0;
  };

  PagedColumn<EndpointId, TaskId> task_of_;
  PagedColumn<TaskId, Task> tasks_;
  std::vector<TaskId>
      silent_;  ///< all of their endpoints were gone at some time since the last take
  std::uint32_t submitted_ = 0;
  std::size_t live_ = 0;
};

}  // namespace bonescan
