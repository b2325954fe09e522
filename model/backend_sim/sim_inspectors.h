// The on-demand sources of the simulated seam: what traceroute, ofproto/trace and the table dumps
// of an operator would print about the world as it is.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/backend_sim/sim_flow_counters.h"
#include "model/backend_sim/world_clock.h"

namespace bonescan {

/// TTL-limited probes on the flow's own five-tuple: the links it hashes to, both ways.  A packet
/// that is lost on the way still shows its path up to there, and the topology completes it.
class SimPathTracer final : public PathTracer {
 public:
  SimPathTracer(World& world,
                const EndpointMap& endpoints,
                WorldClock& clock,
                ComponentTable& components);

  Expected<TracedPath> trace(const FlowKey& flow, Time now) override;

 private:
  std::vector<PathHop> hops(const LinkPath& path);

  World* world_;
  const EndpointMap* endpoints_;
  WorldClock* clock_;
  ComponentTable* components_;
  IdVector<CableId, ComponentId> cable_components_;
};

/// ofproto/trace of the flow on the sender's bridge, then on the receiver's.
class SimOverlayInspector final : public OverlayInspector {
 public:
  SimOverlayInspector(World& world,
                      const EndpointMap& endpoints,
                      WorldClock& clock,
                      ComponentTable& components);

  Expected<OverlayWalk> walk(const FlowKey& flow, Time now) override;

 private:
  void stop_at(OverlayWalk& walk, const Translation& found);
  /// Ends the walk where the tunnel breaks it; false where a trace shows nothing.
  bool stop_in_tunnel(OverlayWalk& walk, TunnelFault fault, RnicId source, RnicId target);

  World* world_;
  const EndpointMap* endpoints_;
  WorldClock* clock_;
  ComponentTable* components_;
};

/// Datapath megaflow and eswitch entry of each flow at one RNIC, beside what OpenFlow expects.
class SimFlowTables final : public FlowTableSource {
 public:
  SimFlowTables(World& world,
                const EndpointMap& endpoints,
                WorldClock& clock,
                ComponentTable& components,
                FlowCounting counting = FlowCounting::kTables);

  Expected<FlowTableDump> dump(EndpointId at, std::span<const FlowKey> flows, Time now) override;
  Expected<FlowCounterDump> flow_counters(EndpointId at, Time now) override;

 private:
  FlowTableRow row(RnicId at, const FlowKey& flow, Time now) const;

  World* world_;
  const EndpointMap* endpoints_;
  WorldClock* clock_;
  ComponentTable* components_;
  SimFlowCounters counters_;
  FlowCounting counting_;
};

}  // namespace bonescan
