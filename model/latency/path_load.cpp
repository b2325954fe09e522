#include "model/latency/path_load.h"

namespace bonescan {

double wait_quantile_ns(const BurstWait& wait, double u) {
  if (u <= wait.idle_ratio) {
    return 0.0;
  }
  const double into = u - wait.idle_ratio;
  if (into >= wait.ramp_ratio) {
    return wait.peak_ns;
  }
  return wait.low_ns + (wait.peak_ns - wait.low_ns) * into / wait.ramp_ratio;
}

double mean_wait_ns(const BurstWait& wait) {
  const double held = 1.0 - wait.idle_ratio - wait.ramp_ratio;
  return wait.ramp_ratio * 0.5 * (wait.low_ns + wait.peak_ns) + held * wait.peak_ns;
}

void PathLoad::add(const BurstWait& wait) {
  if (burst_count < kMostBursts) {
    bursts[burst_count++] = wait;
    return;
  }
  bursts.back().low_ns += wait.low_ns;
  bursts.back().peak_ns += wait.peak_ns;
}

double PathLoad::wait_ns(std::uint32_t word) const {
  double sum = 0.0;
  for (const PathWait& queue : queues) {
    word = stirred(word);
    if (queue.mean_ns > 0.0) {
      sum += wait_quantile_ns(queue, open01(word));
    }
  }
  if (burst_count > 0) {
    const double u = open01(stirred(word));
    for (const BurstWait& burst : std::span(bursts).first(burst_count)) {
      sum += wait_quantile_ns(burst, u);
    }
  }
  return sum;
}

double PathLoad::mean_ns() const {
  double sum = queues[0].mean_ns + queues[1].mean_ns;
  for (const BurstWait& burst : std::span(bursts).first(burst_count)) {
    sum += mean_wait_ns(burst);
  }
  return sum;
}

}  // namespace bonescan
