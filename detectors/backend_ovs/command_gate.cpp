#include "detectors/backend_ovs/command_gate.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace bonescan::backend_ovs {

CommandBudget::CommandBudget(double per_second, double burst, TimePoint now)
    : per_second_(per_second), burst_(burst), tokens_(burst), filled_at_(now) {
  BONESCAN_CHECK(per_second > 0.0);
  BONESCAN_CHECK(burst >= 1.0);
}

Duration CommandBudget::take(TimePoint now) {
  const double elapsed_s = std::chrono::duration<double>(now - filled_at_).count();
  tokens_ = std::min(burst_, tokens_ + per_second_ * std::max(elapsed_s, 0.0));
  filled_at_ = std::max(now, filled_at_);
  tokens_ -= 1.0;
  return tokens_ >= 0.0 ? Duration(0) : from_seconds(-tokens_ / per_second_);
}

CommandGate::CommandGate(CommandRunner& runner, const OvsConfig& config)
    : runner_(runner),
      options_{.timeout = config.command_timeout, .output_bytes_max = config.output_bytes_max},
      budget_(config.commands_per_second,
              static_cast<double>(config.command_burst),
              std::chrono::steady_clock::now()) {}

Expected<std::string> CommandGate::run(const OvsHost& host, std::span<const std::string> argv) {
  const Duration wait = budget_.take(std::chrono::steady_clock::now());
  if (wait > Duration(0)) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop_, wait, [] { return false; });
  }
  options_.stop = stop_;
  auto output = runner_.run(with_prefix(host.command_prefix, argv), options_);
  if (!output) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", host.name, output.error().detail));
  }
  return std::move(output->out);
}

}  // namespace bonescan::backend_ovs
