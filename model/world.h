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
#include "model/host/cloud.h"
#include "model/host/container.h"
#include "model/host/device_troubles.h"
#include "model/host/host_clock.h"
#include "model/host/host_devices.h"
#include "model/host/rnic_leases.h"
#include "model/latency/latency_model.h"
#include "model/overlay/datapath_edit.h"
#include "model/overlay/eswitch.h"
#include "model/overlay/flow_store.h"
#include "model/overlay/open_flow.h"
#include "model/overlay/overlay_options.h"
#include "model/overlay/revalidator.h"
#include "model/overlay/tunnel_state.h"
#include "model/workload/job_table.h"
#include "model/workload/load_options.h"
#include "model/workload/queue_control.h"
#include "sim/engine/engine.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {

struct WorldOptions {
  FabricOptions fabric;
  OverlayOptions overlay;
  LatencyModelOptions latency;
  std::vector<JobOptions> jobs;
  LateStartOptions late_starts;
  CloudOptions cloud;
  HostClockOptions clocks;
  LoadOptions load{};
  std::uint64_t seed = 1;
};

/// A change of a container that agents or the platform would announce.
struct ContainerEvent {
  Time at;
  HostId host;
  ContainerState state = ContainerState::kReady;
  std::uint32_t first_rail = 0;  ///< of the container
  std::uint32_t width = 0;
};

/// An RNIC as a task of the cloud has it.
struct CloudSeat {
  RnicId rnic;
  Ipv4 overlay_address{};
  std::uint8_t function = 0;
};

/// A change in the cloud that the platform or agents announce, about leases
/// [first_lease, first_lease + lease_count).
struct CloudEvent {
  Time at;
  CloudEventKind kind = CloudEventKind::kReady;
  std::uint32_t first_lease = 0;
  std::uint32_t lease_count = 0;
  // Only of kSubmitted:
  std::uint32_t task = 0;          ///< its number
  std::vector<CloudSeat> seats{};  ///< of the leases, in their order
};

/// An RNIC of a container that crashed, and whose it was.
struct CrashedSeat {
  RnicId rnic;
  std::uint32_t lease = kNoLease;
};

class World final : private CloudObserver {
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

  TunnelState& tunnels() { return tunnels_; }

  const TunnelState& tunnels() const { return tunnels_; }

  /// False if no packet of this host ever met anything but present rules and sound tunnels.
  bool translation_changed(HostId host) const {
    return open_flow_.changed(host) || tunnels_.changed(host);
  }

  FlowStore& flows() { return flows_; }

  const FlowStore& flows() const { return flows_; }

  const LatencyModel& latency() const { return latency_; }

  const HostClocks& host_clocks() const { return host_clocks_; }

  const JobTable& jobs() const { return jobs_; }

  /// Of the jobs given by the options; those of the cloud are in cloud()->tasks().
  const std::vector<Container>& containers() const { return containers_; }

  /// Everything that happened to containers() so far, in order.
  const std::vector<ContainerEvent>& container_events() const { return container_events_; }

  /// Null unless the options ask for one.
  const Cloud* cloud() const { return cloud_.get(); }

  /// What the cloud announced since the last call, in order.  It is kept until somebody asks.
  std::vector<CloudEvent> take_cloud_events() { return std::exchange(cloud_events_, {}); }

  const RnicLeases& leases() const { return leases_; }

  RnicLeases& leases() { return leases_; }

  const HostDevices& devices() const { return devices_; }

  DeviceTroubles& troubles() { return troubles_; }

  const DeviceTroubles& troubles() const { return troubles_; }

  const GidTrouble& gid_trouble(RnicId rnic) const { return gid_troubles_[rnic]; }

  /// Do packets of the RNIC's prober leave with an address that is routed?  Neither the spoof check
  /// nor a GID that is not there keeps them back.
  bool sends(RnicId rnic) const { return tunnels_.sends(rnic) && leases_.addressed(rnic); }

  const VirtualFunctions& virtual_functions() const { return functions_; }

  /// Does the RNIC serve a container that is ready?
  bool container_ready(RnicId rnic) const { return leases_.ready(rnic); }

  /// Does nothing keep all probing processes of the host from running?
  bool agent_running(HostId host) const { return agent_stops_[host] == 0; }

  /// Is the probing process of the RNIC's container running?
  bool agent_running(RnicId rnic) const {
    return agent_running(fabric_.host_of(rnic)) && leases_.agent_running(rnic) &&
           devices_.has_memory(rnic);
  }

  /// Leases of the jobs given by the options: 1 .. this, in the order of RNICs.  They never end.
  std::uint32_t job_lease_count() const { return job_lease_count_; }

  /// Does a task of the cloud have the RNIC?
  bool in_cloud(RnicId rnic) const { return leases_.number(rnic) > job_lease_count_; }

  /// Network of the RNIC's tenant.
  std::uint32_t vni(RnicId rnic) const {
    return in_cloud(rnic) ? leases_.lease(rnic).vni : options_.overlay.vni;
  }

  /// Address of the RNIC inside its tenant's network.
  std::string overlay_address(RnicId rnic) const;

  /// A rule as an operator would name it, in the words of the tenant that it serves.
  std::string rule_name(const RuleKey& rule) const;

  bool vswitchd_running(HostId host) const { return !sweeps_[host].stopped(); }

  Router& router() { return router_; }

  const Router& router() const { return router_; }

  QueueControl& queue_control() { return queue_control_; }

  const QueueControl& queue_control() const { return queue_control_; }

  FlowClocks clocks(RnicId rnic) const {
    const HostId host = fabric_.host_of(rnic);
    return {sweeps_[host], refreshes_[rnic], options_.overlay, revalidators_[host].pressure};
  }

  Eswitch& eswitch() { return eswitch_; }

  const Eswitch& eswitch() const { return eswitch_; }

  const RevalidatorState& revalidator(HostId host) const { return revalidators_[host]; }

  /// Flows in the datapath of a host, those of others included, as last settled.
  std::uint64_t count_flows(HostId host) const;

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
  void change_tunnel(const TunnelKey& key, TunnelFault fault);
  /// 0: back to those of the options.
  void set_eswitch_entries(RnicId rnic, std::uint32_t entries);
  /// 0: the limit is Open vSwitch's own again.
  void pin_flow_limit(HostId host, std::uint32_t limit);
  /// Of the flow from `source` to `target` in the datapath of `at`, one of the two.
  void edit_flow(RnicId at, RnicId source, RnicId target, DatapathEdit edit);
  void purge_flows(HostId host);
  /// Adds to, or takes from, what is wrong with the RNIC's GID table.
  void add_gid_trouble(RnicId rnic, const GidTrouble& trouble);
  void take_gid_trouble(RnicId rnic, const GidTrouble& trouble);
  /// The RNIC's slot runs with so few lanes.
  void begin_pcie_width(RnicId rnic, std::uint32_t lanes);
  void end_pcie_width(RnicId rnic, std::uint32_t lanes);
  void begin_hugepages(HostId host, std::uint32_t pages);
  void end_hugepages(HostId host, std::uint32_t pages);
  /// The device is gone from its host, and its ports are down.
  void fail_rnic(RnicId rnic);
  void repair_rnic(RnicId rnic);
  void begin_board_error(HostId host);
  void end_board_error(HostId host);
  /// The RNIC offloads nothing: it loses its entries and takes no new ones.
  void refuse_offloads(RnicId rnic);
  void accept_offloads(RnicId rnic);
  /// All entries of the RNIC are taken from it, or put back where there is room.
  void yield_offloads(RnicId rnic);
  void regain_offloads(RnicId rnic);
  /// The container that has the RNIC falls silent unannounced, its agent with it.
  /// @returns the RNICs that it had; none if there is no container or it is not ready
  std::vector<CrashedSeat> crash_container(RnicId of);
  /// It is started again in its place, as far as its task is still there.
  void restart_container(const std::vector<CrashedSeat>& crashed);

  /// Brings the four megaflows of a quad to `now`: the job's traffic, then idleness.
  void settle_quad(FlowQuad& quad, Time now) const;

 private:
  void place_jobs();
  Job placed(const JobOptions& options, JobId id, std::vector<std::uint32_t>& used_rails) const;
  void schedule_changes(JobId id);
  void schedule_stop(JobId id);
  void stop_job(std::uint64_t job);
  void end_job(std::uint64_t job);
  void reshape_job(std::uint64_t change);
  void start_cloud();
  void bind_job_leases();
  void bind(RnicId rnic, RnicLease lease);
  void start_prober(RnicId rnic);
  // In world_devices.cpp.
  GidTable gid_table(RnicId rnic, const RnicLease& lease) const;
  void limit_ports(RnicId rnic);
  // In world_troubles.cpp.
  void set_container_state(const std::vector<CrashedSeat>& seats, ContainerState state);
  void container_step(std::uint64_t index);
  void on_cloud(CloudEventKind kind, const CloudTask& task, std::uint32_t container) override;
  void begin_task(const CloudTask& task);
  void end_task(const CloudTask& task);
  void schedule_convergence(CableId cable);
  void converge(std::uint64_t link);
  void settle_flows(RnicId rnic);
  void rearm_flows(RnicId rnic);
  // In world_overlay.cpp.
  void start_overlay();
  void begin_deals(RnicId rnic);
  void deal(std::uint64_t rnic);
  void deal_anew(RnicId rnic);
  bool is_pressed(HostId host) const;
  void begin_pressed_sweeps(HostId host);
  void sweep_pressed(std::uint64_t host);
  /// Returns how many flows asked for their install in vain since the sweep before.
  std::uint64_t sweep_flows(HostId host, Time sweep, bool purge);
  /// Stops or resumes a clock of `count` RNICs, keeping their megaflows' cached moments true.
  template <class Change>
  void change_clock(RnicId first, std::uint32_t count, Change&& change) {
    for (std::uint32_t i = 0; i < count; ++i) {
      settle_flows(RnicId(first.index() + i));
    }
    change();
    for (std::uint32_t i = 0; i < count; ++i) {
      rearm_flows(RnicId(first.index() + i));
    }
  }

  template <class Change>
  void change_offloads(RnicId rnic, Change&& change) {
    const Time now = engine_->now();
    for (const QuadId id : flows_.of(rnic)) {
      FlowQuad& quad = flows_[id];
      settle_quad(quad, now);
      const std::size_t end = quad.end_of(rnic);
      change(quad.encap[end], clocks(rnic), now);
      change(quad.decap[end], clocks(rnic), now);
    }
  }

  WorldOptions options_;
  Engine* engine_;
  Fabric fabric_;
  LinkTable links_;
  Router router_;
  OpenFlow open_flow_;
  TunnelState tunnels_;
  LatencyModel latency_;
  HostClocks host_clocks_;
  QueueControl queue_control_;
  FlowStore flows_;
  Eswitch eswitch_;
  JobTable jobs_;
  std::vector<Container> containers_;
  std::vector<ContainerEvent> container_events_;
  RnicLeases leases_;
  HostDevices devices_;
  DeviceTroubles troubles_;
  IdVector<RnicId, GidTrouble> gid_troubles_;
  IdVector<RnicId, std::vector<ImpairmentId>> slot_limits_;  ///< on the RNIC's access links
  VirtualFunctions functions_;
  std::uint32_t job_lease_count_ = 0;
  std::unique_ptr<Cloud> cloud_;
  std::vector<JobId> job_of_slot_;  ///< of the cloud's tasks
  std::vector<CloudEvent> cloud_events_;
  IdVector<HostId, std::uint16_t> agent_stops_;
  IdVector<HostId, std::uint16_t> vswitchd_stops_;
  IdVector<RnicId, std::uint16_t> counter_freezes_;
  IdVector<HostId, PeriodicClock> sweeps_;
  IdVector<RnicId, PeriodicClock> refreshes_;
  IdVector<HostId, RevalidatorState> revalidators_;
  IdVector<RnicId, std::vector<std::uint32_t>>
      swept_hits_;                        ///< of pressed hosts, at the last sweep
  IdVector<RnicId, std::uint8_t> deals_;  ///< the next deal is an event
};

}  // namespace bonescan
