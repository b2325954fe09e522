// The one door through which commands leave this process: bounded in rate, time and output.
//
// Asking Open vSwitch costs it CPU time that it needs for upcalls, so the commands of all hosts and
// all questions together are limited by a token bucket.  A caller that has to wait sleeps, which is
// why only the worker thread may pass through the gate.
// Thread-compatible.
#pragma once

#include "detectors/backend_ovs/command.h"
#include "detectors/backend_ovs/ovs_config.h"
#include "sim/base/error.h"

#include <chrono>
#include <span>
#include <stop_token>
#include <string>

namespace bonescan::backend_ovs {

/// A token bucket that is handed the time.  Starts full.
class CommandBudget final {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// REQUIRES: per_second > 0, burst >= 1.
  CommandBudget(double per_second, double burst, TimePoint now);

  /// Takes one token; how long the caller must wait before it uses it.
  Duration take(TimePoint now);

 private:
  double per_second_;
  double burst_;
  double tokens_;
  TimePoint filled_at_;
};

class CommandGate final {
 public:
  /// REQUIRES: `runner` outlives the gate.
  CommandGate(CommandRunner& runner, const OvsConfig& config);

  /// From now on commands end early when `stop` says so.
  void obey(std::stop_token stop) { stop_ = std::move(stop); }

  /// The standard output of a command.
  /// @errors kUnavailable with the host and the reason
  Expected<std::string> run(const OvsHost& host, std::span<const std::string> argv);

 private:
  CommandRunner& runner_;
  CommandOptions options_;
  CommandBudget budget_;
  std::stop_token stop_;
};

}  // namespace bonescan::backend_ovs
