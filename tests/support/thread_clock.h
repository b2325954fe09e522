// A real clock that several agents of one process share, each with signals of its own.
#pragma once

#include "detectors/backend_verbs/device_clock.h"
#include "detectors/backend_verbs/verbs_probes.h"
#include "tools/agent/agent_clock.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace bonescan::fakes {

/// Thread-safe.
class ThreadClock final : public AgentClock {
 public:
  /// Every agent's run begins when `fabric` does.
  explicit ThreadClock(const verbs::HostClock& fabric) : fabric_(fabric) {}

  Time now() const override { return fabric_.now(); }

  std::int64_t epoch_unix_ns() const override { return 1'790'000'000'000'000'000; }

  Wake wait(Time until) override {
    std::unique_lock lock(mutex_);
    const auto left = std::chrono::nanoseconds(until - now());
    signalled_.wait_for(lock, left, [this] { return !signals_.empty(); });
    if (signals_.empty()) {
      return Wake::kTime;
    }
    const Wake signal = signals_.front();
    signals_.erase(signals_.begin());
    return signal;
  }

  void signal(Wake wake) {
    const std::lock_guard lock(mutex_);
    signals_.push_back(wake);
    signalled_.notify_one();
  }

 private:
  const verbs::HostClock& fabric_;
  std::mutex mutex_;
  std::condition_variable signalled_;
  std::vector<Wake> signals_;
};

}  // namespace bonescan::fakes
