// Time, sleep and signals of a live run, in one place because a signal ends a sleep.
//
// Run time is the monotonic clock since the start of the run: it does not jump when somebody sets
// the wall clock.  Thread-compatible; now() is thread-safe.
#pragma once

#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

enum class Wake : std::uint8_t {
  kTime,    ///< the time has come
  kStop,    ///< SIGTERM or SIGINT
  kReload,  ///< SIGHUP
};

class AgentClock {
 public:
  virtual ~AgentClock() = default;

  /// Since the start of the run.
  virtual Time now() const = 0;
  /// Unix time of the start of the run.
  virtual std::int64_t epoch_unix_ns() const = 0;
  /// Sleeps until `until`, or until a signal comes.  Every signal is told of once.
  virtual Wake wait(Time until) = 0;
};

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread, and so in the threads that it makes later, and
/// takes them one by one.  Make it before any other thread.  A child process has to unblock them.
class SystemClock final : public AgentClock {
 public:
  /// Takes now as the start of the run.
  /// @throws EnvironmentError if the system has no descriptor left
  SystemClock();
  ~SystemClock() override;
  SystemClock(const SystemClock&) = delete;
  SystemClock& operator=(const SystemClock&) = delete;

  Time now() const override;

  std::int64_t epoch_unix_ns() const override { return epoch_unix_ns_; }

  Wake wait(Time until) override;

 private:
  int signals_ = -1;
  std::int64_t start_ns_ = 0;
  std::int64_t epoch_unix_ns_ = 0;
};

}  // namespace bonescan
