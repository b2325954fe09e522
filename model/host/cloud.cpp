#include "model/host/cloud.h"

#include "sim/base/check.h"
#include "sim/base/distributions.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <utility>

namespace bonescan {
namespace {

constexpr int kContainerBits = 16;
constexpr int kSlotBits = 20;
constexpr int kNumberBits = 64 - kContainerBits - kSlotBits;
constexpr std::uint64_t kNumberMask = (1ull << kNumberBits) - 1;
/// VNIs of tasks begin here, clear of those that scenarios give to jobs. @source ours
constexpr std::uint32_t kFirstVni = 100'000;
constexpr std::uint32_t kVniCount = 16'000'000;
/// Rows of an agent's stream: restarts by number, then upgrades by wave.
constexpr std::uint64_t kUpgradeRows = 1ull << 63;

}  // namespace

Cloud::Cloud(const CloudOptions& options,
             std::uint64_t seed,
             std::uint32_t first_lease,
             GpuInventory inventory,
             VirtualFunctions& functions,
             CloudObserver& observer)
    : options_(options),
      seed_(seed),
      functions_(&functions),
      observer_(&observer),
      inventory_(std::move(inventory)),
      mean_containers_(mean(options.sizes.empty() ? default_sizes() : options.sizes)),
      next_lease_(first_lease) {}

void Cloud::start(Engine& engine, const Fabric& fabric) {
  engine_ = &engine;
  fabric_ = &fabric;
  for (std::uint32_t i = 0; i < options_.initial_tasks; ++i) {
    engine.schedule(kStartOfRun, EventPriority::kState, action<&Cloud::arrive>(*this, i));
  }
  next_number_ = options_.initial_tasks;
  for (std::size_t i = 0; i < options_.trace.size(); ++i) {
    engine.schedule(kStartOfRun + options_.trace[i].at,
                    EventPriority::kState,
                    action<&Cloud::arrive_from_trace>(*this, i));
  }
  next_number_ += static_cast<std::uint32_t>(options_.trace.size());
  schedule_arrival(kStartOfRun);
  if (options_.upgrade_at > Duration::zero()) {
    engine.schedule(kStartOfRun + options_.upgrade_at,
                    EventPriority::kState,
                    action<&Cloud::upgrade>(*this, 0));
  }
}

void Cloud::schedule_arrival(Time from) {
  const std::uint32_t number = next_number_++;
  const RngStream gaps(seed_, Purpose::kCloudArrival, 0);
  const double unit = exponential_quantile(gaps.open01_at(number), 1.0);
  const Time when = next_arrival(options_, mean_containers_, from, unit);
  if (when != Time::max()) {
    engine_->schedule(when, EventPriority::kState, action<&Cloud::arrive>(*this, number));
  }
}

void Cloud::arrive(std::uint64_t number) {
  CloudTaskPlan plan = draw_task(options_, seed_, static_cast<std::uint32_t>(number));
  if (number < options_.initial_tasks) {
    plan.ready_base = Duration::zero();
    plan.ready_spread = Duration::zero();
  } else {
    schedule_arrival(engine_->now());
  }
  enqueue(plan);
}

void Cloud::arrive_from_trace(std::uint64_t index) {
  enqueue(
      plan_of(options_.trace[index], options_.initial_tasks + static_cast<std::uint32_t>(index)));
}

void Cloud::enqueue(const CloudTaskPlan& plan) {
  ++counts_.arrived;
  if (waiting_.size() >= options_.queue_limit ||
      !inventory_.could_hold(plan.rnics, plan.containers)) {
    ++counts_.refused;
    return;
  }
  waiting_.push_back(plan);
  ++counts_.waiting;
  admit_waiting();
}

void Cloud::admit_waiting() {
  while (!waiting_.empty()) {
    const CloudTaskPlan plan = waiting_.front();
    const auto blocks = inventory_.take(plan.rnics, plan.containers);
    if (!blocks) {
      return;
    }
    waiting_.pop_front();
    --counts_.waiting;
    admit(plan, *blocks);
  }
}

void Cloud::bind(CloudContainer& container) {
  for (std::uint32_t i = 0; i < container.block.width; ++i) {
    const RnicId rnic = fabric_->rnic(container.block.host, container.block.first_rail + i);
    const auto function = functions_->allocate(rnic);
    // CORRECTNESS: the GPU of this RNIC was free, so no container has a function of it.
    BONESCAN_CHECK(function.has_value());
    container.functions[i] = *function;
  }
}

void Cloud::admit(const CloudTaskPlan& plan, const std::vector<GpuBlock>& blocks) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(tasks_.size()));
    tasks_.emplace_back();
    BONESCAN_CHECK(tasks_.size() < 1ull << kSlotBits);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  CloudTask& task = tasks_[slot];
  task = CloudTask{};
  task.plan = plan;
  task.slot = slot;
  task.submitted = engine_->now();
  task.vni = kFirstVni + plan.number % kVniCount;
  task.first_lease = std::exchange(next_lease_, next_lease_ + task.lease_count());
  Time last_ready = task.submitted;
  Time stop_at = task.submitted + plan.lifetime;
  for (std::uint32_t c = 0; c < plan.containers; ++c) {
    const CloudContainerPlan drawn = draw_container(options_, seed_, plan, c);
    CloudContainer& container = task.containers.emplace_back();
    container.block = blocks[c];
    container.ready_at = task.submitted + drawn.ready_after;
    last_ready = std::max(last_ready, container.ready_at);
    if (drawn.crashes) {
      container.crash_at = container.ready_at + drawn.crash_after;
      stop_at = std::min(stop_at, container.crash_at + options_.crash_noticed);
      task.running_until = std::min(task.running_until, container.crash_at);
    }
    bind(container);
  }
  task.running_until = std::min(task.running_until, stop_at);
  if (last_ready < task.running_until) {
    task.running_since = last_ready;
  }
  ++counts_.admitted;
  ++counts_.tasks;
  counts_.containers += plan.containers;
  counts_.leases += task.lease_count();
  observer_->on_cloud(CloudEventKind::kSubmitted, task, 0);
  at<&Cloud::stop>(stop_at, pack(task, 0));
  schedule_life(task);
}

void Cloud::schedule_life(const CloudTask& task) {
  for (std::uint32_t c = 0; c < task.containers.size(); ++c) {
    // What comes after the stop finds the container stopped.
    at<&Cloud::become_ready>(task.containers[c].ready_at, pack(task, c));
    if (task.containers[c].crash_at != Time::max()) {
      at<&Cloud::crash>(task.containers[c].crash_at, pack(task, c));
    }
  }
}

std::uint64_t Cloud::pack(const CloudTask& task, std::uint32_t container) const {
  return (task.plan.number & kNumberMask) << (kContainerBits + kSlotBits) |
         std::uint64_t{task.slot} << kContainerBits | container;
}

std::uint32_t Cloud::container_of(std::uint64_t packed) {
  return static_cast<std::uint32_t>(packed) & ((1u << kContainerBits) - 1);
}

CloudTask* Cloud::find(std::uint64_t packed) {
  const auto slot = (packed >> kContainerBits) & ((1ull << kSlotBits) - 1);
  CloudTask& task = tasks_[slot];
  const bool same = (task.plan.number & kNumberMask) == packed >> (kContainerBits + kSlotBits);
  return same && !task.containers.empty() ? &task : nullptr;
}

void Cloud::become_ready(std::uint64_t packed) {
  CloudTask* task = find(packed);
  if (task == nullptr || task->stopping) {
    return;
  }
  const std::uint32_t index = container_of(packed);
  task->containers[index].ready = true;
  observer_->on_cloud(CloudEventKind::kReady, *task, index);
  schedule_restart(*task, index, engine_->now());
}

void Cloud::crash(std::uint64_t packed) {
  CloudTask* task = find(packed);
  if (task == nullptr || task->stopping) {
    return;
  }
  const std::uint32_t index = container_of(packed);
  task->containers[index].crashed = true;
  ++counts_.crashes;
  observer_->on_cloud(CloudEventKind::kCrashed, *task, index);
}

void Cloud::stop(std::uint64_t packed) {
  CloudTask* task = find(packed);
  if (task == nullptr) {
    return;
  }
  task->stopping = true;
  observer_->on_cloud(CloudEventKind::kStopping, *task, 0);
  at<&Cloud::remove>(engine_->now() + options_.stop_grace, packed);
}

void Cloud::remove(std::uint64_t packed) {
  CloudTask* task = find(packed);
  BONESCAN_CHECK(task != nullptr);
  observer_->on_cloud(CloudEventKind::kGone, *task, 0);
  for (const CloudContainer& container : task->containers) {
    for (std::uint32_t i = 0; i < container.block.width; ++i) {
      functions_->release(fabric_->rnic(container.block.host, container.block.first_rail + i),
                          container.functions[i]);
    }
    inventory_.give_back(container.block);
  }
  ++counts_.ended;
  --counts_.tasks;
  counts_.containers -= task->plan.containers;
  counts_.leases -= task->lease_count();
  task->containers = {};
  free_slots_.push_back(task->slot);
  admit_waiting();
}

void Cloud::schedule_restart(const CloudTask& task, std::uint32_t container, Time from) {
  if (options_.agent_restarts_per_day <= 0.0) {
    return;
  }
  const RngStream stream(seed_, Purpose::kCloudAgent, task.plan.number);
  const std::uint64_t restarts = task.containers[container].restarts;
  const double u = stream.open01_at(restarts << kContainerBits | container);
  const double wait_s = exponential_quantile(u, 86'400.0 / options_.agent_restarts_per_day);
  at<&Cloud::restart_agent>(from + from_seconds(wait_s), pack(task, container));
}

void Cloud::restart_agent(std::uint64_t packed) {
  take_agent_down(packed);
  if (CloudTask* task = find(packed)) {
    ++task->containers[container_of(packed)].restarts;
    schedule_restart(*task, container_of(packed), engine_->now());
  }
}

void Cloud::take_agent_down(std::uint64_t packed) {
  const CloudTask* task = find(packed);
  if (task == nullptr || task->stopping) {
    return;
  }
  const std::uint32_t index = container_of(packed);
  const CloudContainer& container = task->containers[index];
  if (!container.ready || container.crashed) {
    return;
  }
  observer_->on_cloud(CloudEventKind::kAgentDown, *task, index);
  at<&Cloud::agent_back>(engine_->now() + options_.agent_down, packed);
}

void Cloud::agent_back(std::uint64_t packed) {
  if (const CloudTask* task = find(packed)) {
    observer_->on_cloud(CloudEventKind::kAgentUp, *task, container_of(packed));
  }
}

void Cloud::upgrade(std::uint64_t wave) {
  const Time now = engine_->now();
  for (const CloudTask& task : tasks_) {
    const RngStream stream(seed_, Purpose::kCloudAgent, task.plan.number);
    for (std::uint32_t c = 0; c < task.containers.size(); ++c) {
      const double u = stream.open01_at(kUpgradeRows | wave << kContainerBits | c);
      at<&Cloud::take_agent_down>(now + share_of(options_.upgrade_over, u), pack(task, c));
    }
  }
  if (options_.upgrade_every > Duration::zero()) {
    engine_->schedule(now + options_.upgrade_every,
                      EventPriority::kState,
                      action<&Cloud::upgrade>(*this, wave + 1));
  }
}

ContainerState Cloud::state(const CloudTask& task, std::uint32_t container, Time now) const {
  const CloudContainer& at_issue = task.containers[container];
  if (task.stopping) {
    return ContainerState::kStopping;
  }
  if (at_issue.crashed) {
    return ContainerState::kCrashed;
  }
  if (at_issue.ready) {
    return ContainerState::kReady;
  }
  // The image is pulled in the first part of the wait, the process starts in the second.
  const Time pulled = task.submitted + (at_issue.ready_at - task.submitted) * 3 / 5;
  return now < pulled ? ContainerState::kPulling : ContainerState::kStarting;
}

}  // namespace bonescan
