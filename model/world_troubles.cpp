// The part of the world that breaks devices, boards and containers, and what of a flow table goes
// with them.
#include "model/world.h"
#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {

void World::fail_rnic(RnicId rnic) {
  troubles_.begin_death(rnic);
  for (std::uint32_t port = 0; port < fabric_.ports(); ++port) {
    set_port_down(fabric_.access_cable(rnic, port));
  }
}

void World::repair_rnic(RnicId rnic) {
  troubles_.end_death(rnic);
  for (std::uint32_t port = 0; port < fabric_.ports(); ++port) {
    set_port_up(fabric_.access_cable(rnic, port));
  }
}

void World::begin_board_error(HostId host) {
  devices_.begin_board_error(host);
  for (std::uint32_t rail = 0; rail < fabric_.options().rails; ++rail) {
    limit_ports(fabric_.rnic(host, rail));
  }
}

void World::end_board_error(HostId host) {
  devices_.end_board_error(host);
  for (std::uint32_t rail = 0; rail < fabric_.options().rails; ++rail) {
    limit_ports(fabric_.rnic(host, rail));
  }
}

void World::refuse_offloads(RnicId rnic) {
  eswitch_.refuse(rnic);
  deal_anew(rnic);
}

void World::accept_offloads(RnicId rnic) {
  eswitch_.accept(rnic);
  deal_anew(rnic);
}

void World::yield_offloads(RnicId rnic) {
  change_offloads(rnic, yield_offload);
}

void World::regain_offloads(RnicId rnic) {
  change_offloads(rnic, [](Megaflow& flow, const FlowClocks& clocks, Time now) {
    if (flow.offloadable) {
      regain_offload(flow, clocks, now);
    }
  });
}

std::vector<CrashedSeat> World::crash_container(RnicId of) {
  std::vector<CrashedSeat> crashed;
  const JobId id = jobs_.place(of).job;
  if (!id.valid()) {
    return crashed;
  }
  const Job& job = jobs_[id.index()];
  const auto container = job.container(of);
  for (const RnicId rnic : job.rnics()) {
    if (job.container(rnic) != container || !leases_.ready(rnic)) {
      continue;
    }
    crashed.push_back({rnic, leases_.number(rnic)});
    leases_.set_ready(rnic, false);
    leases_.stop_agent(rnic);
    devices_.end_process(rnic);
  }
  set_container_state(crashed, ContainerState::kCrashed);
  return crashed;
}

void World::restart_container(const std::vector<CrashedSeat>& crashed) {
  for (const CrashedSeat& seat : crashed) {
    if (leases_.number(seat.rnic) != seat.lease) {
      continue;  // The task has ended meanwhile, and somebody else may have the RNIC.
    }
    leases_.start_agent(seat.rnic);
    if (!leases_.agent_running(seat.rnic)) {
      continue;
    }
    leases_.set_ready(seat.rnic, true);
    if (agent_running(fabric_.host_of(seat.rnic))) {
      start_prober(seat.rnic);
    }
  }
  set_container_state(crashed, ContainerState::kReady);
}

void World::set_container_state(const std::vector<CrashedSeat>& seats, ContainerState state) {
  for (const CrashedSeat& seat : seats) {
    const HostId host = fabric_.host_of(seat.rnic);
    const std::uint32_t rail = fabric_.rail_of(seat.rnic);
    const auto found = std::ranges::find_if(containers_, [&](const Container& container) {
      return container.host == host && rail >= container.first_rail &&
             rail < container.first_rail + container.width;
    });
    if (found != containers_.end()) {
      found->state = state;
    }
  }
}

}  // namespace bonescan
