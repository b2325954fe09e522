#include "skeleton/task_book.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace bonescan {

void TaskBook::submit(const EndpointDirectory& directory, EndpointRange range) {
  std::map<std::string_view, TaskId> names;
  for (std::uint32_t i = 0; i < range.count; ++i) {
    const EndpointId endpoint = range[i];
    const auto [task, added] = names.try_emplace(directory[endpoint].task, TaskId(submitted_));
    if (added) {
      ++submitted_;
      ++live_;
    }
    tasks_.at(task->second).members.push_back(endpoint);
    task_of_.at(endpoint) = task->second;
  }
}

void TaskBook::set_gone(EndpointId endpoint, bool gone) {
  const TaskId id = task_of_[endpoint];
  Task& task = tasks_[id];
  task.gone += gone ? 1 : std::size_t{0} - 1;
  if (task.gone == task.members.size()) {
    silent_.push_back(id);
  }
}

std::vector<std::vector<EndpointId>> TaskBook::take_ended() {
  std::sort(silent_.begin(), silent_.end());
  silent_.erase(std::unique(silent_.begin(), silent_.end()), silent_.end());
  std::vector<std::vector<EndpointId>> ended;
  for (const TaskId id : silent_) {
    Task& task = tasks_[id];
    if (task.gone != task.members.size()) {
      continue;
    }
    for (const EndpointId endpoint : task.members) {
      task_of_.release(endpoint, 1);
    }
    ended.push_back(std::move(task.members));
    tasks_.release(id, 1);
    --live_;
  }
  silent_.clear();
  return ended;
}

}  // namespace bonescan
