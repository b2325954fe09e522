#include "model/host/cloud_draws.h"

#include "sim/base/check.h"
#include "sim/base/rng_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// Step times of tasks, log-uniform. @source ours
constexpr double kShortestStepS = 2.0;
constexpr double kLongestStepS = 16.0;

bool in_peak(const CloudOptions& options, Time at, Time& boundary) {
  boundary = Time::max();
  if (options.peak_length <= Duration::zero()) {
    return false;
  }
  const Time first = kStartOfRun + options.peak_first;
  if (at < first) {
    boundary = first;
    return false;
  }
  const bool repeats = options.peak_every > Duration::zero();
  const Duration within = repeats ? (at - first) % options.peak_every : at - first;
  const Time begin = at - within;
  if (within < options.peak_length) {
    boundary = begin + options.peak_length;
    return true;
  }
  if (repeats) {
    boundary = begin + options.peak_every;
  }
  return false;
}

}  // namespace

std::vector<CloudShare> measured_shapes() {
  return {{8, 0.831}, {4, 0.089}, {2, 0.040}, {1, 0.040}};
}

std::vector<CloudShare> default_sizes() {
  return {{1, 0.72},
          {2, 0.16},
          {4, 0.07},
          {8, 0.03},
          {16, 0.012},
          {32, 0.005},
          {64, 0.002},
          {128, 0.001}};
}

std::vector<LifetimeQuantile> measured_lifetimes() {
  return {{0.01, minutes(1)},
          {0.10, minutes(4)},
          {0.25, minutes(15)},
          {0.50, minutes(58)},
          {0.70, minutes(98)},
          {0.90, hours(8)},
          {0.99, hours(60)}};
}

Duration lifetime_at(std::span<const LifetimeQuantile> quantiles, double u) {
  BONESCAN_CHECK(!quantiles.empty());
  if (u <= quantiles.front().share) {
    return quantiles.front().time;
  }
  for (std::size_t i = 1; i < quantiles.size(); ++i) {
    const LifetimeQuantile& low = quantiles[i - 1];
    const LifetimeQuantile& high = quantiles[i];
    if (u < high.share) {
      const double part = (u - low.share) / (high.share - low.share);
      const double growth = std::log(seconds(high.time) / seconds(low.time));
      return share_of(low.time, std::exp(part * growth));
    }
  }
  return quantiles.back().time;
}

std::uint32_t pick(std::span<const CloudShare> shares, double u) {
  double total = 0.0;
  for (const CloudShare& entry : shares) {
    total += entry.share;
  }
  BONESCAN_CHECK(total > 0.0);
  double left = u * total;
  for (const CloudShare& entry : shares) {
    left -= entry.share;
    if (left < 0.0) {
      return entry.value;
    }
  }
  return shares.back().value;
}

double mean(std::span<const CloudShare> shares) {
  double total = 0.0;
  double sum = 0.0;
  for (const CloudShare& entry : shares) {
    total += entry.share;
    sum += entry.share * entry.value;
  }
  return sum / total;
}

CloudTaskPlan draw_task(const CloudOptions& options, std::uint64_t seed, std::uint32_t number) {
  const RngStream stream(seed, Purpose::kCloudTask, number);
  const PhiloxCounter bits = stream.block(0);
  const PhiloxCounter more = stream.block(1);
  const auto lifetimes = options.lifetimes.empty() ? measured_lifetimes() : options.lifetimes;
  CloudTaskPlan plan;
  plan.number = number;
  plan.containers = pick(options.sizes.empty() ? default_sizes() : options.sizes, open01(bits[0]));
  plan.rnics = pick(options.shapes.empty() ? measured_shapes() : options.shapes, open01(bits[1]));
  plan.lifetime = lifetime_at(lifetimes, open01(bits[2]));
  plan.trains = open01(bits[3]) >= options.quiet_share;
  plan.ready_base = options.ready_base;
  plan.ready_spread = share_of(options.ready_spread, open01(more[0]));
  const double step_s = kShortestStepS * std::pow(kLongestStepS / kShortestStepS, open01(more[1]));
  plan.step_time = from_seconds(step_s);
  return plan;
}

CloudTaskPlan plan_of(const CloudTraceTask& task, std::uint32_t number) {
  CloudTaskPlan plan;
  plan.number = number;
  plan.containers = task.containers;
  plan.rnics = task.rnics;
  plan.lifetime = task.lifetime;
  plan.ready_spread = task.ready_spread;
  plan.trains = task.trains;
  return plan;
}

CloudContainerPlan draw_container(const CloudOptions& options,
                                  std::uint64_t seed,
                                  const CloudTaskPlan& task,
                                  std::uint32_t index) {
  const PhiloxCounter bits = RngStream(seed, Purpose::kCloudContainer, task.number).block(index);
  CloudContainerPlan plan;
  plan.ready_after = task.ready_base + share_of(task.ready_spread, open01(bits[0]));
  plan.crashes = open01(bits[1]) < options.crash_share;
  plan.crash_after = share_of(options.crash_within, open01(bits[2]));
  return plan;
}

Time next_arrival(const CloudOptions& options, double mean_containers, Time from, double unit) {
  const Time last = options.arrivals_until > Duration::zero() ? kStartOfRun + options.arrivals_until
                                                              : Time::max();
  Time at = from;
  // Bounded: every round passes the end of a peak or of a pause, and a rate of zero ends it.
  while (at < last) {
    Time boundary;
    const bool peak = in_peak(options, at, boundary);
    const double per_minute =
        peak ? options.peak_containers_per_minute : options.containers_per_minute;
    const double per_second = per_minute / 60.0 / mean_containers;
    if (boundary == Time::max() && per_second <= 0.0) {
      return Time::max();
    }
    const double expected = boundary == Time::max() ? unit : seconds(boundary - at) * per_second;
    if (unit <= expected) {
      const Time found = at + from_seconds(unit / per_second);
      return found < last ? found : Time::max();
    }
    unit -= expected;
    at = boundary;
  }
  return Time::max();
}

std::string task_name(std::uint32_t number) {
  return fmt::format("task-{}", number);
}

JobOptions job_of(const CloudTaskPlan& task) {
  JobOptions job;
  job.name = task_name(task.number);
  job.gpus = task.containers * task.rnics;
  job.tp = task.rnics;
  for (std::uint32_t stages = 2;
       stages * stages <= task.containers && task.containers % stages == 0;
       stages *= 2) {
    job.pp = stages;
  }
  job.dp = task.containers / job.pp;
  job.step_time = task.step_time;
  job.stage_offset = task.step_time / 16;
  return job;
}

}  // namespace bonescan
