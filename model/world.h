// The world: every entity of the simulated cluster and the state that faults change.
//
// The world owns state and arithmetic; the engine owns time.  Rare things (a container becoming
// ready, a fault, a crash) are events.  What a probe meets is a function of the state and of time,
// evaluated on demand (probe_path.h), never an event.
// Invariants: 1. the same options and seed give the same world; 2. only events change what a probe
// can see, apart from megaflows and load, which are closed forms of time.
#pragma once

#include "model/fabric/fabric.h"
#include "model/fabric/link_table.h"
#include "model/fabric/router.h"
#include "model/host/container.h"
#include "model/latency/latency_model.h"
#include "model/overlay/datapath_edit.h"
#include "model/overlay/flow_store.h"
#include "model/overlay/open_flow.h"
#include "model/overlay/overlay_options.h"
#include "model/workload/job.h"
#include "sim/engine/engine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

struct WorldOptions {
  FabricOptions fabric;
  OverlayOptions overlay;
  LatencyModelOptions latency;
  std::vector<JobOptions> jobs;
  LateStartOptions late_starts;
  std::uint64_t seed = 1;
};

/// A change of a container that agents or the platform would announce.
struct ContainerEvent {
  Time at;
  HostId host;
  ContainerState state = ContainerState::kReady;
};

class World final {
 public:
  /// Schedules the containers' life on `engine`.  REQUIRES: both outlive the other's use.
  World(const WorldOptions& options, Engine& engine);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const WorldOptions& options() const { return options_; }

  const Fabric& fabric() const { return fabric_; }

  Engine& engine() { return *engine_; }

  LinkTable& links() { return links_; }

  const LinkTable& links() const { return links_; }

  OpenFlow& open_flow() { return open_flow_; }

  const OpenFlow& open_flow() const { return open_flow_; }

  FlowStore& flows() { return flows_; }

  const FlowStore& flows() const { return flows_; }

  const LatencyModel& latency() const { return latency_; }

  const std::vector<Job>& jobs() const { return jobs_; }

  const std::vector<Container>& containers() const { return containers_; }

  /// Everything that happened to containers so far, in order.
  const std::vector<ContainerEvent>& container_events() const { return container_events_; }

  bool container_ready(HostId host) const { return ready_[host] != 0; }

  /// Is the probing process of the host's container running?
  bool agent_running(HostId host) const { return agent_stops_[host] == 0; }

  bool vswitchd_running(HostId host) const { return !sweeps_[host].stopped(); }

  Router& router() { return router_; }

  const Router& router() const { return router_; }

  FlowClocks clocks(RnicId rnic) const {
    return {sweeps_[fabric_.host_of(rnic)], refreshes_[rnic], options_.overlay};
  }

  // Commands of the fault layer; `now` is the engine's time.
  void stop_agent(HostId host);
  void start_agent(HostId host);
  void stop_vswitchd(HostId host);
  void start_vswitchd(HostId host);
  void freeze_counters(RnicId rnic);
  void thaw_counters(RnicId rnic);
  void lose_offloads(RnicId rnic);
  /// Nothing passes a cable, and both ends see it: those who send over it avoid it, a while later.
  void set_port_down(CableId cable);
  void set_port_up(CableId cable);
  /// One direction is dead, and its sender ignores the fault that the other end signals.
  void set_one_way_down(LinkId link);
  void set_one_way_up(LinkId link);
  void change_rule(const RuleKey& rule, RuleState state);
  /// Of the flow from `source` to `target` in the datapath of `at`, one of the two.
  void edit_flow(RnicId at, RnicId source, RnicId target, DatapathEdit edit);
  void purge_flows(HostId host);

  /// Brings the four megaflows of a quad to `now`: the job's traffic, then idleness.
  void settle_quad(FlowQuad& quad, Time now) const;

 private:
  void place_jobs();
  void container_step(std::uint64_t index);
  void schedule_convergence(CableId cable);
  void converge(std::uint64_t link);
  void settle_flows(RnicId rnic);
  void rearm_flows(RnicId rnic);
  /// Stops or resumes a clock of `count` RNICs, keeping their megaflows' cached moments true.
  template <class Change>
  void change_clock(RnicId first, std::uint32_t count, Change&& change);

  WorldOptions options_;
  Engine* engine_;
  Fabric fabric_;
  LinkTable links_;
  Router router_;
  OpenFlow open_flow_;
  LatencyModel latency_;
  FlowStore flows_;
  std::vector<Job> jobs_;
  std::vector<Container> containers_;
  std::vector<ContainerEvent> container_events_;
  IdVector<HostId, std::uint8_t> ready_;
  IdVector<HostId, std::uint16_t> agent_stops_;
  IdVector<HostId, std::uint16_t> vswitchd_stops_;
  IdVector<RnicId, std::uint16_t> counter_freezes_;
  IdVector<HostId, PeriodicClock> sweeps_;
  IdVector<RnicId, PeriodicClock> refreshes_;
};

}  // namespace bonescan
