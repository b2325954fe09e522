// A command runner that knows its answers by heart.
//
// Answers are found by the command line, words joined by blanks; what is not known fails as a
// program would that is not installed.  Every command is recorded.  Thread-safe.
#pragma once

#include "detectors/backend_ovs/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bonescan::fakes {

class FakeRunner final : public backend_ovs::CommandRunner {
 public:
  using Result = tl::expected<backend_ovs::CommandOutput, backend_ovs::CommandError>;

  void prints(const std::string& command, std::string out) {
    prints_in_turn(command, {std::move(out)});
  }

  /// One output each time; the last one from then on.
  void prints_in_turn(const std::string& command, const std::vector<std::string>& outs) {
    const std::lock_guard lock(mutex_);
    answers_[command].clear();
    for (const std::string& out : outs) {
      answers_[command].emplace_back(backend_ovs::CommandOutput{out, {}});
    }
  }

  void fails(const std::string& command,
             backend_ovs::CommandFailure failure,
             const std::string& detail) {
    const std::lock_guard lock(mutex_);
    answers_[command].clear();
    answers_[command].emplace_back(tl::unexpect, backend_ovs::CommandError{failure, 2, detail});
  }

  Result run(std::span<const std::string> argv, const backend_ovs::CommandOptions&) override {
    const std::string command = fmt::format("{}", fmt::join(argv, " "));
    const std::lock_guard lock(mutex_);
    commands_.push_back(command);
    const auto found = answers_.find(command);
    if (found != answers_.end()) {
      Result answer = found->second.front();
      if (found->second.size() > 1) {
        found->second.pop_front();
      }
      return answer;
    }
    return tl::unexpected<backend_ovs::CommandError>(backend_ovs::CommandError{
        backend_ovs::CommandFailure::kNotFound, 0, "unexpected command: " + command});
  }

  std::vector<std::string> commands() const {
    const std::lock_guard lock(mutex_);
    return commands_;
  }

  std::size_t count(const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::count_if(commands_.begin(), commands_.end(), [&](const std::string& command) {
          return command.find(part) != std::string::npos;
        }));
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<Result>> answers_;
  std::vector<std::string> commands_;
};

}  // namespace bonescan::fakes
