#include "model/backend_sim/sim_inspectors.h"

#include "model/probe_path.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {
namespace {

/// The representor of an RNIC's virtual function on its host's bridge.
std::string port_name(const World& world, RnicId rnic) {
  const std::uint32_t rail = world.fabric().rail_of(rnic);
  return world.in_cloud(rnic) ? representor_name(rail, world.leases().lease(rnic).function)
                              : fmt::format("vf-{}", rail);
}

/// What a packet is put into whose VNI is wrong.  @source ours
std::uint32_t vni_of(const World& world, RnicId source, TunnelFault fault) {
  return world.vni(source) + (fault == TunnelFault::kWrongVni ? 1 : 0);
}

std::string forward_actions(const World& world,
                            FlowRole role,
                            RnicId source,
                            RnicId target,
                            TunnelFault fault = TunnelFault::kNone) {
  const Fabric& fabric = world.fabric();
  if (role == FlowRole::kEncap) {
    return fmt::format("set(tunnel(tun_id={},src={},dst={})),vxlan_sys_{}",
                       vni_of(world, source, fault),
                       underlay_address(fabric, source),
                       underlay_address(fabric, target),
                       world.options().overlay.vxlan_port);
  }
  return port_name(world, target);
}

std::string actions_of(
    const World& world, const Translation& found, FlowRole role, RnicId source, RnicId target) {
  const bool leaves = found.state == RuleState::kPresent && found.tunnel != TunnelFault::kNoRoute &&
                      found.tunnel != TunnelFault::kNoNeighbour;
  return leaves ? forward_actions(world, role, source, target, found.tunnel) : "drop";
}

std::string match_of(const World& world, FlowRole role, RnicId source, RnicId target) {
  const Fabric& fabric = world.fabric();
  if (role == FlowRole::kEncap) {
    return fmt::format("in_port({}),ipv4(src={},dst={})",
                       port_name(world, source),
                       world.overlay_address(source),
                       world.overlay_address(target));
  }
  return fmt::format("tunnel(tun_id={},src={},dst={}),ipv4(src={},dst={})",
                     world.vni(target),
                     underlay_address(fabric, source),
                     underlay_address(fabric, target),
                     world.overlay_address(source),
                     world.overlay_address(target));
}

}  // namespace

SimPathTracer::SimPathTracer(World& world,
                             const EndpointMap& endpoints,
                             WorldClock& clock,
                             ComponentTable& components)
    : world_(&world),
      endpoints_(&endpoints),
      clock_(&clock),
      components_(&components),
      cable_components_(world.fabric().cable_count()) {}

std::vector<PathHop> SimPathTracer::hops(const LinkPath& path) {
  std::vector<PathHop> hops;
  hops.reserve(path.span().size());
  for (const LinkId link : path.span()) {
    const CableId cable = Fabric::cable_of(link);
    ComponentId& component = cable_components_[cable];
    if (!component.valid()) {
      component = components_->intern(ComponentType::kLink, world_->fabric().cable_name(cable));
    }
    hops.push_back({component, Fabric::is_up(link) ? LinkDirection::kUp : LinkDirection::kDown});
  }
  return hops;
}

Expected<TracedPath> SimPathTracer::trace(const FlowKey& flow, Time now) {
  clock_->advance(now);
  if (!endpoints_->bound(*world_, flow.source) || !endpoints_->bound(*world_, flow.target)) {
    return fail(ErrorCode::kUnavailable, "no such endpoint");
  }
  const ProbePath path = resolve_path(*world_,
                                      {.source = endpoints_->rnic(flow.source),
                                       .target = endpoints_->rnic(flow.target),
                                       .source_port = flow.source_port});
  return TracedPath{.request = hops(path.request), .answer = hops(path.answer)};
}

SimOverlayInspector::SimOverlayInspector(World& world,
                                         const EndpointMap& endpoints,
                                         WorldClock& clock,
                                         ComponentTable& components)
    : world_(&world), endpoints_(&endpoints), clock_(&clock), components_(&components) {}

void SimOverlayInspector::stop_at(OverlayWalk& walk, const Translation& found) {
  const std::string rule = world_->rule_name(found.rule);
  const ComponentId bridge =
      components_->intern(ComponentType::kBridge, world_->open_flow().bridge_name(found.rule.host));
  walk.culprit = components_->intern(ComponentType::kRule, rule);
  switch (found.state) {
    case RuleState::kPresent:
      break;
    case RuleState::kMissing:
      walk.hops.push_back({bridge, "table miss", "drop"});
      walk.end = WalkEnd::kNoNextHop;
      walk.reason = fmt::format("no match where {} should be: table miss, drop", rule);
      break;
    case RuleState::kLooping:
      walk.hops.push_back({bridge, rule, "resubmit"});
      walk.end = WalkEnd::kLoop;
      walk.reason =
          fmt::format("{} resubmits to an earlier table: over max translation depth 64", rule);
      break;
    case RuleState::kDropping:
      walk.hops.push_back({bridge, rule, "drop"});
      walk.end = WalkEnd::kNoNextHop;
      walk.reason = fmt::format("{} drops", rule);
      break;
  }
}

bool SimOverlayInspector::stop_in_tunnel(OverlayWalk& walk,
                                         TunnelFault fault,
                                         RnicId source,
                                         RnicId target) {
  const Fabric& fabric = world_->fabric();
  const OpenFlow& open_flow = world_->open_flow();
  const ComponentId bridge =
      components_->intern(ComponentType::kBridge, open_flow.bridge_name(fabric.host_of(source)));
  const std::string vtep = underlay_address(fabric, target);
  switch (fault) {
    case TunnelFault::kNone:
    case TunnelFault::kWrongMac:
      return false;
    case TunnelFault::kWrongVni: {
      const HostId remote = fabric.host_of(target);
      const std::string rule =
          world_->rule_name({fabric.host_of(source), RuleTable::kClassify, source});
      walk.hops.push_back(
          {components_->intern(ComponentType::kBridge, open_flow.bridge_name(remote)),
           "table miss",
           "drop"});
      walk.end = WalkEnd::kNoNextHop;
      walk.culprit = components_->intern(ComponentType::kRule, rule);
      walk.reason = fmt::format("{} puts the packet into VNI {}, and on {} {}",
                                rule,
                                vni_of(*world_, source, fault),
                                open_flow.bridge_name(remote),
                                trace_words(fault));
      return true;
    }
    case TunnelFault::kNoRoute:
    case TunnelFault::kNoNeighbour:
      walk.end = fault == TunnelFault::kNoRoute ? WalkEnd::kNoNextHop : WalkEnd::kMissingNeighbour;
      walk.culprit = bridge;
      walk.reason = fmt::format("{}: {}", vtep, trace_words(fault));
      return true;
  }
  return false;
}

Expected<OverlayWalk> SimOverlayInspector::walk(const FlowKey& flow, Time now) {
  clock_->advance(now);
  if (!endpoints_->bound(*world_, flow.source) || !endpoints_->bound(*world_, flow.target)) {
    return fail(ErrorCode::kUnavailable, "no such endpoint");
  }
  const RnicId source = endpoints_->rnic(flow.source);
  const RnicId target = endpoints_->rnic(flow.target);
  const OpenFlow& open_flow = world_->open_flow();
  OverlayWalk walk;
  const auto visit = [&](RnicId at, RuleTable table, RnicId endpoint, std::string action_text) {
    const HostId host = world_->fabric().host_of(at);
    walk.hops.push_back({components_->intern(ComponentType::kBridge, open_flow.bridge_name(host)),
                         world_->rule_name({host, table, endpoint}),
                         std::move(action_text)});
  };

  const Translation encap = translation(*world_, source, source, target, now);
  if (encap.state != RuleState::kPresent) {
    stop_at(walk, encap);
    return walk;
  }
  visit(source, RuleTable::kClassify, source, "goto table 10");
  visit(source,
        RuleTable::kEncap,
        target,
        actions_of(*world_, encap, FlowRole::kEncap, source, target));
  if (stop_in_tunnel(walk, encap.tunnel, source, target)) {
    return walk;
  }
  const Translation decap = translation(*world_, target, source, target, now);
  if (!decap.forwards()) {
    stop_at(walk, decap);
    return walk;
  }
  visit(target,
        RuleTable::kDeliver,
        target,
        forward_actions(*world_, FlowRole::kDecap, source, target));
  return walk;
}

SimFlowTables::SimFlowTables(World& world,
                             const EndpointMap& endpoints,
                             WorldClock& clock,
                             ComponentTable& components,
                             FlowCounting counting)
    : world_(&world),
      endpoints_(&endpoints),
      clock_(&clock),
      components_(&components),
      counters_(world, endpoints),
      counting_(counting) {}

Expected<FlowCounterDump> SimFlowTables::flow_counters(EndpointId at, Time now) {
  clock_->advance(now);
  if (!endpoints_->bound(*world_, at)) {
    return fail(ErrorCode::kUnavailable, "no such endpoint");
  }
  const RnicId rnic = endpoints_->rnic(at);
  return FlowCounterDump{
      components_->intern(ComponentType::kRnic, world_->fabric().rnic_name(rnic)),
      counters_.read(rnic, counting_, now)};
}

Expected<FlowTableDump> SimFlowTables::dump(EndpointId at,
                                            std::span<const FlowKey> flows,
                                            Time now) {
  clock_->advance(now);
  const bool known = std::all_of(flows.begin(), flows.end(), [&](const FlowKey& flow) {
    return endpoints_->bound(*world_, flow.source) && endpoints_->bound(*world_, flow.target);
  });
  if (!known || !endpoints_->bound(*world_, at)) {
    return fail(ErrorCode::kUnavailable, "no such endpoint");
  }
  const RnicId rnic = endpoints_->rnic(at);
  FlowTableDump dump;
  dump.rnic = components_->intern(ComponentType::kRnic, world_->fabric().rnic_name(rnic));
  dump.bridge = components_->intern(
      ComponentType::kBridge, world_->open_flow().bridge_name(world_->fabric().host_of(rnic)));
  for (const FlowKey& flow : flows) {
    if (flow.source != at && flow.target != at) {
      return fail(ErrorCode::kUnavailable,
                  "the flow does not touch " + world_->fabric().rnic_name(rnic));
    }
    dump.rows.push_back(row(rnic, flow, now));
  }
  return dump;
}

FlowTableRow SimFlowTables::row(RnicId at, const FlowKey& flow, Time now) const {
  const RnicId source = endpoints_->rnic(flow.source);
  const RnicId target = endpoints_->rnic(flow.target);
  FlowTableRow row;
  row.flow = flow;
  row.role = at == source ? FlowRole::kEncap : FlowRole::kDecap;
  row.match = match_of(*world_, row.role, source, target);
  row.hardware_expected = world_->eswitch().offloads();
  const Translation expected = translation(*world_, at, source, target, now);
  row.expected_actions = actions_of(*world_, expected, row.role, source, target);

  Megaflow megaflow;
  if (const auto known = world_->flows().find(source, target)) {
    FlowQuad quad = world_->flows()[*known];
    world_->settle_quad(quad, now);
    const std::size_t end = quad.end_of(at);
    megaflow = row.role == FlowRole::kEncap ? quad.encap[end] : quad.decap[end];
  }
  if (megaflow.place == FlowPlace::kAbsent) {
    return row;
  }
  const auto actions = [&](const Megaflow& found) {
    const Translation cached = bridge_translation(*world_, found, at, source, target, now);
    return actions_of(*world_, cached, row.role, source, target);
  };
  Megaflow own = megaflow;  // what Open vSwitch sees: not the foreign rule before it
  own.shadowed = false;
  row.datapath = {.present = true,
                  .actions = actions(own),
                  .packets = megaflow.hits,
                  .used = now - megaflow.used};
  if (megaflow.place == FlowPlace::kOffloaded) {
    row.eswitch = row.datapath;
    row.eswitch.actions = actions(megaflow);
  }
  if (world_->eswitch().shadows(at, source, target)) {
    // The wider rule has no actions that hardware can do: it hands packets to software.
    row.shadow = {.present = true,
                  .actions = "trap",
                  .packets = row.datapath.packets,
                  .used = row.datapath.used};
    row.shadow_match = "pref 1 in software";
  }
  return row;
}

}  // namespace bonescan
