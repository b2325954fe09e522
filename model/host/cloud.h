// The life of containers in a cloud: tasks arrive, wait for GPUs, start, run, stop, are gone.
//
// A task is what a tenant submits: `containers` of equal shape, each on a block of GPUs and RNICs
// of one host.  Its network is its own (a VNI, and overlay addresses that repeat across tenants).
//   arrival -> queue -> submitted -> (per container) ready -> stopping -> gone
// Admission: first in, first out, by free GPUs alone; while the head does not fit nobody behind it
// is admitted (no backfill).  An arrival that finds `queue_limit` tasks waiting is refused, and so
// is a task that would not fit into the empty cluster.
// Containers of a task become ready minutes apart.  One that crashes just after its start falls
// silent unannounced; its task is ended when the platform notices.  A planned end is announced
// (stopping), and silence follows `stop_grace` later (gone).  Agents restart at random and in
// rolling upgrades.
// Every draw is a function of (seed, task): admission depends on the cloud itself and nothing else,
// so the same seed is the same cloud whatever breaks.
// A lease is one RNIC bound to one container.  Leases are numbered in the order of submission, a
// task's in one piece, and a number is never used again.
// Invariants: 1. an RNIC has at most one lease; 2. when a task is gone, nothing of it is left but
// counts.  Thread-compatible.
#pragma once

#include "model/host/cloud_draws.h"
#include "model/host/cloud_options.h"
#include "model/host/container.h"
#include "model/host/gpu_inventory.h"
#include "model/host/virtual_functions.h"
#include "sim/engine/engine.h"

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

namespace bonescan {

struct CloudContainer {
  GpuBlock block;
  std::array<std::uint8_t, 16> functions{};  ///< virtual function on each RNIC of the block
  Time ready_at;
  Time crash_at = Time::max();
  std::uint32_t restarts = 0;  ///< of its agent, upgrades apart
  bool ready = false;
  bool crashed = false;
};

/// A task that was admitted and is not gone.
struct CloudTask {
  CloudTaskPlan plan;
  Time submitted;
  Time running_since = Time::max();  ///< every container is ready; never if it is stopped before
  Time running_until = Time::max();  ///< the first crash or the stop
  std::uint32_t slot = 0;            ///< dense among living tasks, used again
  std::uint32_t vni = 0;
  std::uint32_t first_lease = 0;
  bool stopping = false;
  std::vector<CloudContainer> containers;  ///< none: the slot is free

  std::uint32_t lease_count() const { return plan.containers * plan.rnics; }
};

enum class CloudEventKind : std::uint8_t {
  kSubmitted,
  kReady,      ///< one container
  kCrashed,    ///< one container
  kStopping,   ///< the task
  kGone,       ///< the task; its leases are over after this call
  kAgentDown,  ///< one container
  kAgentUp,    ///< one container
};

/// Told of everything, inside the engine's event.
class CloudObserver {
 public:
  CloudObserver() = default;
  CloudObserver(const CloudObserver&) = delete;
  CloudObserver& operator=(const CloudObserver&) = delete;
  virtual ~CloudObserver() = default;

  /// `container` counts within the task, where the event is about one.
  virtual void on_cloud(CloudEventKind kind, const CloudTask& task, std::uint32_t container) = 0;
};

struct CloudCounts {
  std::uint64_t arrived = 0;
  std::uint64_t refused = 0;
  std::uint64_t admitted = 0;
  std::uint64_t ended = 0;
  std::uint64_t crashes = 0;
  std::uint32_t waiting = 0;
  std::uint32_t tasks = 0;       ///< living
  std::uint32_t containers = 0;  ///< of living tasks
  std::uint32_t leases = 0;
};

class Cloud final {
 public:
  /// Schedules arrivals on `engine`.  Leases are numbered from `first_lease`.
  /// REQUIRES: `functions`, `observer` and `engine` outlive the cloud; no shape beyond the rails.
  Cloud(const CloudOptions& options,
        std::uint64_t seed,
        std::uint32_t first_lease,
        GpuInventory inventory,
        VirtualFunctions& functions,
        CloudObserver& observer);

  Cloud(const Cloud&) = delete;
  Cloud& operator=(const Cloud&) = delete;

  /// Starts the arrivals.  Events need the address of the cloud, and the observer must be ready.
  void start(Engine& engine, const Fabric& fabric);

  const CloudCounts& counts() const { return counts_; }

  const GpuInventory& inventory() const { return inventory_; }

  /// Living tasks by slot; free slots have no containers.
  const std::vector<CloudTask>& tasks() const { return tasks_; }

  ContainerState state(const CloudTask& task, std::uint32_t container, Time now) const;

 private:
  /// A container (or task) of an event that may have ended since the event was scheduled.
  std::uint64_t pack(const CloudTask& task, std::uint32_t container) const;
  CloudTask* find(std::uint64_t packed);
  static std::uint32_t container_of(std::uint64_t packed);

  void schedule_arrival(Time from);
  void arrive(std::uint64_t number);
  void arrive_from_trace(std::uint64_t index);
  void enqueue(const CloudTaskPlan& plan);
  void admit_waiting();
  void admit(const CloudTaskPlan& plan, const std::vector<GpuBlock>& blocks);
  void bind(CloudContainer& container);
  void schedule_life(const CloudTask& task);
  void schedule_restart(const CloudTask& task, std::uint32_t container, Time from);

  // Events.
  void become_ready(std::uint64_t packed);
  void crash(std::uint64_t packed);
  void stop(std::uint64_t packed);
  void remove(std::uint64_t packed);
  void restart_agent(std::uint64_t packed);
  void agent_back(std::uint64_t packed);
  void upgrade(std::uint64_t wave);
  void take_agent_down(std::uint64_t packed);

  template <auto Method>
  void at(Time when, std::uint64_t packed) {
    engine_->schedule(when, EventPriority::kState, action<Method>(*this, packed));
  }

  CloudOptions options_;
  std::uint64_t seed_;
  Engine* engine_ = nullptr;
  const Fabric* fabric_ = nullptr;
  VirtualFunctions* functions_;
  CloudObserver* observer_;
  GpuInventory inventory_;
  double mean_containers_ = 1.0;
  std::uint32_t next_number_ = 0;  ///< of tasks
  std::uint32_t next_lease_ = 1;
  CloudCounts counts_;
  std::deque<CloudTaskPlan> waiting_;
  std::vector<CloudTask> tasks_;
  std::vector<std::uint32_t> free_slots_;
};

}  // namespace bonescan
