// Everything random about a cloud, as pure functions of (options, seed, number of the task).
//
// So the n-th task is the same whatever happened before it, and a run with other faults, detectors
// or free GPUs meets the same arrivals.
#pragma once

#include "model/host/cloud_options.h"
#include "model/workload/job_options.h"

#include <cstdint>
#include <span>
#include <string>

namespace bonescan {

/// What is known of a task when it is submitted.
struct CloudTaskPlan {
  std::uint32_t number = 0;
  std::uint32_t containers = 1;
  std::uint32_t rnics = 8;  ///< of each container
  Duration lifetime{};      ///< from creation until it is asked to stop
  Duration ready_base{};
  Duration ready_spread{};
  Duration step_time = std::chrono::seconds(8);
  bool trains = true;
};

struct CloudContainerPlan {
  Duration ready_after{};  ///< of its creation
  Duration crash_after{};  ///< of becoming ready; meaningless unless it crashes
  bool crashes = false;
};

/// Piecewise log-linear: ln(time) is linear in the share between two quantiles, and constant
/// beyond the first and the last.  REQUIRES: 0 < u < 1, quantiles sorted by share and not empty.
Duration lifetime_at(std::span<const LifetimeQuantile> quantiles, double u);

/// The value that a uniform number picks.  REQUIRES: shares not all zero.
std::uint32_t pick(std::span<const CloudShare> shares, double u);

double mean(std::span<const CloudShare> shares);

CloudTaskPlan draw_task(const CloudOptions& options, std::uint64_t seed, std::uint32_t number);

CloudTaskPlan plan_of(const CloudTraceTask& task, std::uint32_t number);

CloudContainerPlan draw_container(const CloudOptions& options,
                                  std::uint64_t seed,
                                  const CloudTaskPlan& task,
                                  std::uint32_t index);

/// When the next task arrives if the one before came at `from`; Time::max() if none does.  `unit`
/// is exponential with mean 1.  REQUIRES: rates and the mean size are finite.
Time next_arrival(const CloudOptions& options, double mean_containers, Time from, double unit);

/// "task-17"
std::string task_name(std::uint32_t number);

/// How its ranks are laid out: tensor-parallel within a container, then data and pipeline as
/// square as the number of containers allows (ours).
JobOptions job_of(const CloudTaskPlan& task);

}  // namespace bonescan
