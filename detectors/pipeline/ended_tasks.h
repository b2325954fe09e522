// Tasks whose endpoints are all gone, until what is known about their pairs can go as well.
//
// Reports of the last visits still come in for a while, and the log and an open window may hold
// samples of them.  Invariant: tasks are taken once, in the order of their end.
// Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <optional>
#include <utility>
#include <vector>

namespace bonescan {

struct EndedTask {
  std::vector<EndpointId> endpoints;
  std::vector<PairRange> pairs;
  std::optional<Time> release_at;  ///< absent until somebody asks for the first time
};

class EndedTasks final {
 public:
  void add(EndedTask task) { tasks_.push_back(std::move(task)); }

  /// Takes those that were first asked for `grace` ago or longer and that nobody uses any more.
  template <class InUse>
  std::vector<EndedTask> take_due(Time now, Duration grace, const InUse& in_use) {
    std::vector<EndedTask> due;
    std::vector<EndedTask> left;
    for (EndedTask& task : tasks_) {
      if (!task.release_at) {
        task.release_at = now + grace;
        left.push_back(std::move(task));
      } else if (*task.release_at > now || in_use(task)) {
        left.push_back(std::move(task));
      } else {
        due.push_back(std::move(task));
      }
    }
    tasks_ = std::move(left);
    return due;
  }

 private:
  std::vector<EndedTask> tasks_;
};

}  // namespace bonescan
