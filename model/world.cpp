#include "model/world.h"

#include "sim/base/check.h"
#include "sim/base/rng_stream.h"

#include <algorithm>
#include <string_view>

namespace bonescan {
namespace {

PeriodicClock drawn_clock(std::uint64_t seed,
                          Purpose purpose,
                          std::uint32_t entity,
                          Duration period) {
  const RngStream stream(seed, purpose, entity);
  return PeriodicClock(kStartOfRun + share_of(period, stream.open01_at(0)), period);
}

ContainerState after(ContainerState state) {
  return static_cast<ContainerState>(static_cast<int>(state) + 1);
}

void apply_job_traffic(FlowQuad& quad, std::array<FlowClocks, 2> clocks, TimeSpan busy) {
  for (std::size_t end = 0; end < 2; ++end) {
    hit_continuously(quad.encap[end], clocks[end], busy.from, busy.to);
    hit_continuously(quad.decap[end], clocks[end], busy.from, busy.to);
  }
}

}  // namespace

World::World(const WorldOptions& options, Engine& engine)
    : options_(options),
      engine_(&engine),
      fabric_(options.fabric),
      links_(fabric_),
      router_(fabric_, links_, options.seed),
      open_flow_(fabric_),
      tunnels_(fabric_, options.overlay.mtu),
      latency_(options.latency),
      host_clocks_(options.clocks, options.seed),
      queue_control_(fabric_),
      eswitch_(fabric_, options.overlay.eswitch, options.seed),
      jobs_(fabric_),
      leases_(fabric_.rnic_count()),
      devices_(fabric_),
      troubles_(fabric_),
      gid_troubles_(fabric_.rnic_count()),
      slot_limits_(fabric_.rnic_count()),
      functions_(fabric_.rnic_count(), kMaxVirtualFunctions),
      agent_stops_(fabric_.host_count()),
      vswitchd_stops_(fabric_.host_count()),
      counter_freezes_(fabric_.rnic_count()),
      revalidators_(fabric_.host_count()),
      swept_hits_(fabric_.rnic_count()),
      deals_(fabric_.rnic_count()) {
  for (std::uint32_t h = 0; h < fabric_.host_count(); ++h) {
    sweeps_.push_back(
        drawn_clock(options.seed,
                    Purpose::kRevalidatorPhase,
                    h,
                    std::min(options.overlay.max_idle, options.overlay.max_revalidator)));
  }
  for (std::uint32_t r = 0; r < fabric_.rnic_count(); ++r) {
    refreshes_.push_back(
        drawn_clock(options.seed, Purpose::kCounterPhase, r, options.overlay.counter_refresh));
  }
  start_overlay();
  place_jobs();
  bind_job_leases();
  if (options.cloud.active()) {
    start_cloud();
  }
}

Job World::placed(const JobOptions& options,
                  JobId id,
                  std::vector<std::uint32_t>& used_rails) const {
  const auto host_of = [&](std::string_view name) {
    const auto named = std::find_if(
        jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.options().name == name; });
    BONESCAN_CHECK(named != jobs_.end());
    return named->hosts();
  };
  std::vector<HostId> hosts;
  if (!options.beside.empty()) {
    hosts = host_of(options.beside);
  }
  for (std::uint32_t h = 0; options.beside.empty() && h < fabric_.host_count(); ++h) {
    if (!fabric_.is_spare(HostId(h)) && used_rails[h] == 0) {
      hosts.emplace_back(h);
    }
  }
  const std::uint32_t first_rail = hosts.empty() ? 0 : used_rails[hosts.front().index()];
  Job job(options, fabric_, std::move(hosts), id, options_.seed, first_rail);
  for (const HostId host : job.hosts()) {
    used_rails[host.index()] = first_rail + job.options().container_rnics;
  }
  return job;
}

void World::place_jobs() {
  std::vector<std::uint32_t> used_rails(fabric_.host_count());
  for (std::uint32_t j = 0; j < options_.jobs.size(); ++j) {
    const JobId id(j);
    Job job = placed(options_.jobs[j], id, used_rails);
    Time last_ready = kStartOfRun;
    const std::uint32_t width = job.options().container_rnics;
    for (std::uint32_t p = 0; p < job.hosts().size(); ++p) {
      const HostId host = job.hosts()[p];
      const Time ready = draw_ready_time(job.options(), options_.late_starts, id, p, options_.seed);
      last_ready = std::max(last_ready, ready);
      containers_.push_back({.host = host,
                             .job = id,
                             .state = ContainerState::kScheduled,
                             .ready_at = ready,
                             .first_rail = used_rails[host.index()] - width,
                             .width = width});
      engine_->schedule(kStartOfRun + job.options().start,
                        EventPriority::kState,
                        action<&World::container_step>(*this, containers_.size() - 1));
    }
    job.set_running_since(last_ready);
    if (options_.jobs[j].stop > Duration::zero()) {
      job.set_running_until(kStartOfRun + options_.jobs[j].stop);
    }
    jobs_.add(std::move(job));
    schedule_changes(id);
    schedule_stop(id);
  }
}

void World::schedule_changes(JobId id) {
  const std::vector<ShapeChange>& changes = options_.jobs[id.index()].changes;
  for (std::uint32_t i = 0; i < changes.size(); ++i) {
    engine_->schedule(
        kStartOfRun + changes[i].at,
        EventPriority::kState,
        action<&World::reshape_job>(*this, std::uint64_t{id.index()} << 32 | (i + 1)));
  }
}

void World::schedule_stop(JobId id) {
  const Duration stop = options_.jobs[id.index()].stop;
  if (stop > Duration::zero()) {
    engine_->schedule(
        kStartOfRun + stop, EventPriority::kState, action<&World::stop_job>(*this, id.index()));
    engine_->schedule(kStartOfRun + stop + options_.cloud.stop_grace,
                      EventPriority::kState,
                      action<&World::end_job>(*this, id.index()));
  }
}

void World::stop_job(std::uint64_t job) {
  for (Container& container : containers_) {
    if (container.job.index() == job) {
      container.state = ContainerState::kStopping;
      container_events_.push_back(
          {engine_->now(), container.host, container.state, container.first_rail, container.width});
    }
  }
}

void World::end_job(std::uint64_t job) {
  for (Container& container : containers_) {
    if (container.job.index() != job) {
      continue;
    }
    container.state = ContainerState::kGone;
    container_events_.push_back(
        {engine_->now(), container.host, container.state, container.first_rail, container.width});
    for (std::uint32_t i = 0; i < container.width; ++i) {
      const RnicId rnic = fabric_.rnic(container.host, container.first_rail + i);
      leases_.set_ready(rnic, false);
      leases_.stop_agent(rnic);
      devices_.end_process(rnic);
    }
  }
}

void World::reshape_job(std::uint64_t change) {
  const JobId id(static_cast<std::uint32_t>(change >> 32));
  const std::vector<RnicId> rnics = jobs_[id.index()].rnics();
  for (const RnicId rnic : rnics) {
    settle_flows(rnic);
  }
  jobs_.enter_layout(id, change & 0xFFFF'FFFF);
  for (const RnicId rnic : rnics) {
    for (const QuadId quad : flows_.of(rnic)) {
      flows_.retrace(quad, jobs_, engine_->now());
    }
  }
}

void World::container_step(std::uint64_t index) {
  Container& container = containers_[index];
  if (container.state == ContainerState::kStopping || container.state == ContainerState::kGone) {
    return;
  }
  const Time now = engine_->now();
  container.state = after(container.state);
  container_events_.push_back(
      {now, container.host, container.state, container.first_rail, container.width});
  if (container.state == ContainerState::kReady) {
    for (std::uint32_t i = 0; i < container.width; ++i) {
      start_prober(fabric_.rnic(container.host, container.first_rail + i));
    }
    return;
  }
  // The image is pulled in the first part of the wait, the process starts in the second.
  const Time next = container.state == ContainerState::kPulling
                        ? now + (container.ready_at - now) * 3 / 5
                        : container.ready_at;
  engine_->schedule(next, EventPriority::kState, action<&World::container_step>(*this, index));
}

void World::stop_agent(HostId host) {
  if (agent_stops_[host]++ > 0) {
    return;
  }
  for (std::uint32_t rail = 0; rail < fabric_.options().rails; ++rail) {
    devices_.end_process(fabric_.rnic(host, rail));
  }
}

void World::start_agent(HostId host) {
  BONESCAN_CHECK(agent_stops_[host] > 0);
  if (--agent_stops_[host] > 0) {
    return;
  }
  for (std::uint32_t rail = 0; rail < fabric_.options().rails; ++rail) {
    const RnicId rnic = fabric_.rnic(host, rail);
    if (leases_.ready(rnic)) {
      start_prober(rnic);
    }
  }
}

void World::settle_flows(RnicId rnic) {
  for (const QuadId id : flows_.of(rnic)) {
    settle_quad(flows_[id], engine_->now());
    if (MarkedFlows* marked = flows_.marked(id)) {
      const std::size_t end = flows_[id].end_of(rnic);
      settle((*marked)[end], clocks(rnic), engine_->now());
    }
  }
}

void World::rearm_flows(RnicId rnic) {
  for (const QuadId id : flows_.of(rnic)) {
    FlowQuad& quad = flows_[id];
    const std::size_t end = quad.end_of(rnic);
    rearm(quad.encap[end], clocks(rnic), engine_->now());
    rearm(quad.decap[end], clocks(rnic), engine_->now());
    if (MarkedFlows* marked = flows_.marked(id)) {
      rearm((*marked)[end], clocks(rnic), engine_->now());
    }
  }
}

void World::stop_vswitchd(HostId host) {
  if (vswitchd_stops_[host]++ == 0) {
    change_clock(fabric_.rnic(host, 0), fabric_.options().rails, [&] {
      sweeps_[host].stop(engine_->now());
    });
  }
}

void World::start_vswitchd(HostId host) {
  BONESCAN_CHECK(vswitchd_stops_[host] > 0);
  if (--vswitchd_stops_[host] == 0) {
    change_clock(fabric_.rnic(host, 0), fabric_.options().rails, [&] {
      sweeps_[host].resume(engine_->now());
    });
    begin_pressed_sweeps(host);
  }
}

void World::freeze_counters(RnicId rnic) {
  if (counter_freezes_[rnic]++ == 0) {
    change_clock(rnic, 1, [&] { refreshes_[rnic].stop(engine_->now()); });
  }
}

void World::thaw_counters(RnicId rnic) {
  BONESCAN_CHECK(counter_freezes_[rnic] > 0);
  if (--counter_freezes_[rnic] == 0) {
    change_clock(rnic, 1, [&] { refreshes_[rnic].resume(engine_->now()); });
  }
}

void World::lose_offloads(RnicId rnic) {
  change_offloads(rnic, lose_offload);
}

void World::set_port_down(CableId cable) {
  links_.set_port_down(cable);
  schedule_convergence(cable);
}

void World::set_port_up(CableId cable) {
  links_.set_port_up(cable);
  schedule_convergence(cable);
}

void World::set_one_way_down(LinkId link) {
  links_.set_one_way_down(link);
  schedule_convergence(Fabric::cable_of(link));
}

void World::set_one_way_up(LinkId link) {
  links_.set_one_way_up(link);
  schedule_convergence(Fabric::cable_of(link));
}

void World::schedule_convergence(CableId cable) {
  const FabricOptions& options = options_.fabric;
  Duration up_after = options.convergence;
  Duration down_after = options.convergence;
  if (fabric_.is_access(cable)) {
    if (fabric_.ports() == 1) {
      return;  // There is nowhere else to go.
    }
    up_after = options.bond_failover;
    down_after = options.route_withdrawal;
  }
  const Time now = engine_->now();
  engine_->schedule(now + up_after,
                    EventPriority::kState,
                    action<&World::converge>(*this, Fabric::up(cable).index()));
  engine_->schedule(now + down_after,
                    EventPriority::kState,
                    action<&World::converge>(*this, Fabric::down(cable).index()));
}

void World::converge(std::uint64_t link) {
  const LinkId id(static_cast<std::uint32_t>(link));
  links_.set_excluded(id, links_.sender_sees_down(id));
}

void World::change_rule(const RuleKey& rule, RuleState state) {
  open_flow_.change(rule, state, engine_->now());
  revalidators_[rule.host].changed = true;
}

void World::change_tunnel(const TunnelKey& key, TunnelFault fault) {
  tunnels_.change(key, fault, engine_->now());
  revalidators_[key.host].changed = true;
}

void World::edit_flow(RnicId at, RnicId source, RnicId target, DatapathEdit edit) {
  const Time now = engine_->now();
  FlowQuad& quad = flows_[flows_.find_or_add(source, target, jobs_)];
  settle_quad(quad, now);
  const std::size_t end = quad.end_of(at);
  edit_datapath(at == source ? quad.encap[end] : quad.decap[end], clocks(at), edit, now);
  open_flow_.watch(fabric_.host_of(at));
}

void World::purge_flows(HostId host) {
  const Time now = engine_->now();
  for (std::uint32_t rail = 0; rail < fabric_.options().rails; ++rail) {
    const RnicId rnic = fabric_.rnic(host, rail);
    for (const QuadId id : flows_.of(rnic)) {
      FlowQuad& quad = flows_[id];
      settle_quad(quad, now);
      const std::size_t end = quad.end_of(rnic);
      purge(quad.encap[end], clocks(rnic), now);
      purge(quad.decap[end], clocks(rnic), now);
      if (MarkedFlows* const marked = flows_.marked(id)) {
        purge((*marked)[end], clocks(rnic), now);
      }
    }
  }
}

void World::settle_quad(FlowQuad& quad, Time now) const {
  const std::array<FlowClocks, 2> both = {clocks(quad.ends[0]), clocks(quad.ends[1])};
  if (quad.traffic != TrafficKind::kNone && quad.job_until < now) {
    const Job& job = jobs_[quad.job.index()];
    const Time until = std::min(now, job.running_until());
    Time from = std::max(quad.job_until, job.running_since());
    const bool bursts = in_bursts(quad.traffic) || job.options().workload == Workload::kDebug;
    if (!bursts && !job.falls_silent() && from < until) {
      apply_job_traffic(quad, both, {from, until});
    } else {
      while (from < until) {
        const TimeSpan burst =
            bursts ? job.burst_ending_after(quad.stage, from) : job.busy_ending_after(from);
        if (burst.from >= until) {
          break;
        }
        apply_job_traffic(quad, both, {std::max(burst.from, from), std::min(burst.to, until)});
        from = burst.to;
      }
    }
    quad.job_until = now;
  }
  for (std::size_t end = 0; end < 2; ++end) {
    settle(quad.encap[end], both[end], now);
    settle(quad.decap[end], both[end], now);
  }
}

}  // namespace bonescan
