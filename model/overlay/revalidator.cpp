#include "model/overlay/revalidator.h"

#include <algorithm>

namespace bonescan {
namespace {

constexpr double kMostSlowdown = 20.0;
constexpr std::int64_t kLimitStep = 1'000;

}  // namespace

double slowdown(double load) {
  return load >= 1.0 - 1.0 / kMostSlowdown ? kMostSlowdown : 1.0 / (1.0 - load);
}

Duration sweep_time(std::uint64_t flows, Duration dump_cost, double slowdown) {
  const double time = static_cast<double>(flows) * static_cast<double>(dump_cost.count());
  return Duration(static_cast<std::int64_t>(time * slowdown));
}

std::uint32_t next_flow_limit(std::uint32_t limit,
                              std::uint64_t flows,
                              Duration sweep,
                              std::uint32_t most) {
  // Whole milliseconds, and at least one, as in Open vSwitch.
  const std::int64_t ms = std::max<std::int64_t>(1, sweep / std::chrono::milliseconds(1));
  std::int64_t next = limit;
  if (ms > 2'000) {
    next /= ms / 1'000;
  } else if (ms > 1'300) {
    next = next * 3 / 4;
  } else if (ms < 1'000 && next < static_cast<std::int64_t>(flows) * 1'000 / ms) {
    next += kLimitStep;
  }
  const std::int64_t high = std::max(most, kSmallestFlowLimit);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(next, kSmallestFlowLimit, high));
}

HostPressure pressure_of(std::uint64_t flows, std::uint64_t limit) {
  const bool pressed = flows > limit;
  return {.max_idle = pressed ? kPressedIdle : Duration{}, .installs = !pressed};
}

bool should_revalidate(const SweptFlow& flow, Duration last_sweep, const OverlayOptions& options) {
  if (options.min_revalidate_pps == 0 || last_sweep < options.max_revalidator / 2) {
    return true;
  }
  const Duration a_packet =
      flow.unused / static_cast<std::int64_t>(std::max<std::uint64_t>(flow.packets, 1));
  if (a_packet < Duration(std::chrono::seconds(1)) / options.min_revalidate_pps) {
    return true;
  }
  return flow.offloaded && knows_stats_delay(options.version) &&
         flow.unused < options.offloaded_stats_delay;
}

}  // namespace bonescan
