// How a cloud of containers lives: who arrives, how large, for how long, how it starts and ends.
//
// Numbers from the measured cluster (SIGCOMM 2025) are marked quoted; the rest is inferred from
// them or ours.  "RNICs" of a container are its GPUs as well: one each.
#pragma once

#include "sim/base/units.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// One value of a distribution; shares are relative to their sum.
struct CloudShare {
  std::uint32_t value = 1;
  double share = 1.0;
};

/// `share` of the tasks live for at most `time`.
struct LifetimeQuantile {
  double share = 0.0;
  Duration time{};
};

/// One task of a trace: what the draws would say.
struct CloudTraceTask {
  Duration at{};
  std::uint32_t containers = 1;
  std::uint32_t rnics = 8;  ///< of each container
  Duration lifetime = std::chrono::minutes(10);
  Duration ready_spread{};
  bool trains = true;  ///< false: debugging or inference, without regular bursts
};

struct CloudOptions {
  std::uint32_t initial_tasks = 0;          ///< present and ready when the run starts
  double containers_per_minute = 0.0;       ///< hundreds off peak [quoted]
  double peak_containers_per_minute = 0.0;  ///< about 2,000 [quoted]
  Duration peak_first{};
  Duration peak_every{};      ///< zero: one peak only
  Duration peak_length{};     ///< zero: no peaks; at most 2 min, free GPUs limit it [inferred]
  Duration arrivals_until{};  ///< zero: they never end
  std::uint32_t queue_limit = 1000;

  std::vector<CloudShare> sizes;            ///< containers of a task; empty: default_sizes()
  std::vector<CloudShare> shapes;           ///< RNICs of a container; empty: measured_shapes()
  std::vector<LifetimeQuantile> lifetimes;  ///< empty: measured_lifetimes()
  std::vector<CloudTraceTask> trace;        ///< besides what arrives at random

  Duration ready_base = std::chrono::seconds(20);    ///< pulling and starting at least @ours
  Duration ready_spread = std::chrono::minutes(10);  ///< within one task, at most [quoted]
  double quiet_share = 0.3;                          ///< tasks without regular bursts @ours
  double crash_share = 0.0;                          ///< containers that crash when just created
  Duration crash_within = std::chrono::seconds(30);  ///< of becoming ready @ours
  Duration crash_noticed = std::chrono::minutes(1);  ///< the platform ends the task then @ours
  Duration stop_grace = std::chrono::seconds(10);    ///< from stopping to gone @ours

  double agent_restarts_per_day = 0.0;  ///< of each container
  Duration agent_down = std::chrono::seconds(5);
  Duration upgrade_at{};     ///< first rolling upgrade of the agents; zero: none
  Duration upgrade_every{};  ///< weekly to monthly [quoted]; zero: one only
  Duration upgrade_over = std::chrono::minutes(10);  ///< each agent once in this time @ours

  bool active() const {
    return initial_tasks > 0 || containers_per_minute > 0.0 ||
           (peak_length > Duration::zero() && peak_containers_per_minute > 0.0) || !trace.empty();
  }
};

/// 83.1 % of the containers bind 8 RNICs, 8.9 % bind 4 [quoted]; the other 8.0 % are split evenly
/// between 2 and 1 [inferred].
std::vector<CloudShare> measured_shapes();

/// Mostly small, a few large: with measured_shapes() 32,768 RNICs hold about 2,000 tasks [quoted
/// number of tasks; the sizes are ours].
std::vector<CloudShare> default_sizes();

/// Half of them live for less than an hour, 70 % for less than 100 min [quoted].  The ends are
/// ours: short lives as in a public trace of GPU pods (cluster-trace-gpu-v2023), long ones such
/// that 2,000 tasks at 2 million in six months have the right mean, about 4.4 h [inferred].
std::vector<LifetimeQuantile> measured_lifetimes();

}  // namespace bonescan
