// What the I/O thread of verbs_probes.h sleeps on: an epoll set with one timer and one wake-up.
//
// Descriptors of rebuilt queues change; watch() of an owner replaces what was watched for it.
// Thread-safety: wake() may be called by anybody, the rest by the thread that waits.
#pragma once

#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace bonescan::verbs {

enum class FdRole : std::uint8_t {
  kCompletions,
  kEvents,
};

struct ReadyFd {
  std::uint32_t owner = 0;
  FdRole role = FdRole::kCompletions;
};

class IoLoop final {
 public:
  /// @errors kIo: no descriptors left
  static Expected<std::unique_ptr<IoLoop>> create();
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  /// Watches `fd`, or nothing if it is -1.
  /// @errors kIo
  Expected<void> watch(std::uint32_t owner, FdRole role, int fd);

  /// Sleeps until a descriptor is ready, wake() is called, or `sleep` has passed (nullopt: never).
  /// The descriptors that are ready; valid until the next call.
  std::span<const ReadyFd> wait(std::optional<Duration> sleep);

  void wake();

 private:
  IoLoop() = default;
  void set_timer(std::optional<Duration> sleep);

  int epoll_ = -1;
  int timer_ = -1;
  int wake_ = -1;
  bool timer_set_ = false;
  std::vector<ReadyFd> ready_;
};

}  // namespace bonescan::verbs
