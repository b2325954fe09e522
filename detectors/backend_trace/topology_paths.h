// Paths from a topology file, and from the routers where the file leaves a choice.
//
// A single shortest path between two endpoints is the answer.  Where there are several (ECMP), only
// the switches know which one a flow takes.  Requests of local endpoints are then traced with
// TTL-limited packets; what the routers answer must fit exactly one path of the topology.  A silent
// router is bridged if that leaves one way.  Otherwise the answer is kUnavailable with the reason:
// a union of possible paths would clear links that nobody crossed, a guess would blame them.
//
// Answers of a remote endpoint cannot be traced from here, since only their sender can send on
// their five-tuple.  They are known if there is one path, or if the operator states symmetric
// hashing. Thread-compatible.
#pragma once

#include "detectors/backend_trace/flow_tracer.h"
#include "detectors/backend_trace/path_search.h"
#include "detectors/backend_trace/topology.h"
#include "detectors/telemetry/telemetry.h"

#include <functional>
#include <memory>
#include <vector>

namespace bonescan {

/// What the switches see of a flow.
/// @errors kUnavailable, for example if the outer source port is not known
using OuterFlowOf = std::function<Expected<OuterFlow>(const FlowKey&)>;

/// RoCEv2 without a tunnel: underlay addresses, the flow's own source port, port 4791.
/// REQUIRES: the directory outlives the function.
OuterFlowOf roce_outer_flow(const EndpointDirectory& endpoints);

class TopologyPaths final : public PathTracer {
 public:
  /// @param tracer null: only the file is asked
  /// REQUIRES: endpoints and components outlive it.
  TopologyPaths(Topology topology,
                const EndpointDirectory& endpoints,
                ComponentTable& components,
                std::unique_ptr<FlowTracer> tracer,
                OuterFlowOf outer_flow);

  Expected<TracedPath> trace(const FlowKey& flow, Time now) override;

 private:
  using Steps = std::vector<CableStep>;

  Expected<TopologyNodeId> node_of(EndpointId endpoint) const;
  Expected<Steps> one_way(const FlowKey& flow, Time now);
  Expected<Steps> ask_routers(const FlowKey& flow, const PathSearch& known, Time now);
  Expected<Steps> fit(const FlowKey& flow, const HopAnswers& answers) const;
  std::string ends(const FlowKey& flow) const;
  std::vector<PathHop> hops(const Steps& steps) const;

  Topology topology_;
  const EndpointDirectory& endpoints_;
  IdVector<TopologyCableId, ComponentId> links_;
  std::unique_ptr<FlowTracer> tracer_;
  OuterFlowOf outer_flow_;
};

}  // namespace bonescan
