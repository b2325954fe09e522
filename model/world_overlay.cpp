// What the overlay of a limited RNIC or of a pressed host does at events: deals and sweeps.
#include "model/world.h"
#include "sim/base/check.h"

#include <algorithm>
#include <limits>

namespace bonescan {
namespace {

/// Of a continuous flow, whose packets nobody counts.
constexpr std::uint64_t kManyPackets = 1'000'000;

}  // namespace

void World::start_overlay() {
  flows_.admit_by(&eswitch_, options_.overlay.ecn_marked_share > 0.0);
  for (std::uint32_t r = 0; r < fabric_.rnic_count(); ++r) {
    begin_deals(RnicId(r));
  }
  for (std::uint32_t h = 0; h < fabric_.host_count(); ++h) {
    RevalidatorState& state = revalidators_[HostId(h)];
    state.limit = std::min(kFirstFlowLimit, options_.overlay.flow_limit);
    state.load = options_.overlay.cpu_load;
    state.slowdown = slowdown(state.load);
    begin_pressed_sweeps(HostId(h));
  }
}

void World::begin_deals(RnicId rnic) {
  if (eswitch_.limited(rnic) && deals_[rnic] == 0) {
    deals_[rnic] = 1;
    engine_->schedule(engine_->now() + Eswitch::kDealPeriod,
                      EventPriority::kState,
                      action<&World::deal>(*this, rnic.index()));
  }
}

void World::deal(std::uint64_t rnic) {
  const RnicId at(static_cast<std::uint32_t>(rnic));
  deals_[at] = 0;
  if (!eswitch_.limited(at)) {
    return;
  }
  settle_flows(at);
  eswitch_.deal(at, flows_, clocks(at), engine_->now());
  begin_deals(at);
}

void World::set_eswitch_entries(RnicId rnic, std::uint32_t entries) {
  eswitch_.set_entries(rnic, entries);
  deal_anew(rnic);
}

void World::deal_anew(RnicId rnic) {
  settle_flows(rnic);
  if (eswitch_.limited(rnic)) {
    eswitch_.deal(rnic, flows_, clocks(rnic), engine_->now());
    begin_deals(rnic);
  } else {
    eswitch_.open(rnic, flows_);
  }
}

void World::pin_flow_limit(HostId host, std::uint32_t limit) {
  revalidators_[host].pinned_limit = limit;
  begin_pressed_sweeps(host);
}

bool World::is_pressed(HostId host) const {
  return options_.overlay.background_flows > 0 || options_.overlay.cpu_load > 0.0 ||
         revalidators_[host].pinned_limit > 0;
}

void World::begin_pressed_sweeps(HostId host) {
  RevalidatorState& state = revalidators_[host];
  if (state.running || (!is_pressed(host) && state.pressure == HostPressure{})) {
    return;
  }
  // Just before the sweep, so that it finds what was decided for it.
  const Time sweep = sweeps_[host].after(engine_->now() + Duration(1));
  if (sweep == kNever) {
    return;  // Not running: start_vswitchd() comes back here.
  }
  state.running = true;
  engine_->schedule(sweep - Duration(1),
                    EventPriority::kState,
                    action<&World::sweep_pressed>(*this, host.index()));
}

std::uint64_t World::count_flows(HostId host) const {
  std::uint64_t count = options_.overlay.background_flows;
  for (std::uint32_t rail = 0; rail < fabric_.options().rails; ++rail) {
    const RnicId rnic = fabric_.rnic(host, rail);
    for (const QuadId id : flows_.of(rnic)) {
      const FlowQuad& quad = flows_[id];
      const std::size_t end = quad.end_of(rnic);
      count += quad.encap[end].place != FlowPlace::kAbsent ? 1 : 0;
      count += quad.decap[end].place != FlowPlace::kAbsent ? 1 : 0;
    }
  }
  return count;
}

void World::sweep_pressed(std::uint64_t host_index) {
  const HostId host(static_cast<std::uint32_t>(host_index));
  RevalidatorState& state = revalidators_[host];
  state.running = false;
  if (sweeps_[host].stopped()) {
    return;
  }
  const OverlayOptions& overlay = options_.overlay;
  const Time sweep = engine_->now() + Duration(1);
  const RnicId first = fabric_.rnic(host, 0);
  change_clock(first, fabric_.options().rails, [&] {
    const std::uint64_t flows = count_flows(host);
    const bool pressed = is_pressed(host);
    const std::uint32_t limit = state.effective_limit();
    const bool purge = pressed && purges(flows, limit);
    const std::uint64_t refused = sweep_flows(host, sweep, purge);
    state.load = pressed ? state.load : overlay.cpu_load;
    state.slowdown = slowdown(state.load);
    state.last_sweep = sweep_time(flows, overlay.dump_cost, state.slowdown);
    state.limit = next_flow_limit(state.limit, flows, state.last_sweep, overlay.flow_limit);
    state.pressure = pressed ? pressure_of(flows + refused, limit) : HostPressure{};
    state.changed = false;
    const Duration wait = std::min(overlay.max_idle, overlay.max_revalidator);
    sweeps_[host].restart(sweep, std::max(wait, state.last_sweep));
  });
  begin_pressed_sweeps(host);
}

std::uint64_t World::sweep_flows(HostId host, Time sweep, bool purge) {
  RevalidatorState& state = revalidators_[host];
  const Duration period = sweeps_[host].period();
  std::uint64_t upcalls = 0;
  std::uint64_t refused = 0;
  for (std::uint32_t rail = 0; rail < fabric_.options().rails; ++rail) {
    const RnicId rnic = fabric_.rnic(host, rail);
    std::vector<std::uint32_t>& seen = swept_hits_[rnic];
    seen.resize(2 * flows_.of(rnic).size());
    std::size_t next = 0;
    for (const QuadId id : flows_.of(rnic)) {
      FlowQuad& quad = flows_[id];
      const std::size_t end = quad.end_of(rnic);
      for (Megaflow* flow : {&quad.encap[end], &quad.decap[end]}) {
        const std::uint64_t packets = flow->hits - seen[next];
        seen[next++] = flow->hits;
        if (flow->place == FlowPlace::kAbsent) {
          upcalls += packets;
          refused += packets > 0 ? 1 : 0;
          continue;
        }
        // Open vSwitch knows of packets only what was reported since the sweep before.
        const bool reported = flow->used > sweep - period;
        const SweptFlow swept{.unused = sweep - flow->used,
                              .packets = !reported                            ? 0
                                         : quad.traffic == TrafficKind::kNone ? packets
                                                                              : kManyPackets,
                              .offloaded = flow->place == FlowPlace::kOffloaded};
        if (purge ||
            (state.changed && !should_revalidate(swept, state.last_sweep, options_.overlay))) {
          delete_flow(*flow);
        }
      }
    }
  }
  const double busy =
      static_cast<double>(upcalls * static_cast<std::uint64_t>(options_.overlay.upcall.count())) /
      static_cast<double>(period.count());
  state.load = std::min(1.0, options_.overlay.cpu_load + busy);
  return refused;
}

}  // namespace bonescan
