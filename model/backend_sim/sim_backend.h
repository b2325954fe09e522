// The simulated seam: the seven telemetry interfaces on a World.
//
// Asking anything with a later time brings the world there first.  Nothing here reads the truth
// about faults; everything is derived from the world's state.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/backend_sim/packet_probes.h"
#include "model/backend_sim/report_path.h"
#include "model/backend_sim/sim_host_inspector.h"
#include "model/backend_sim/sim_inspectors.h"
#include "model/backend_sim/sim_probes.h"
#include "model/backend_sim/sim_throughput.h"
#include "model/backend_sim/telemetry_channel_options.h"

#include <memory>
#include <optional>
#include <vector>

namespace bonescan {

/// Containers announce themselves through their agents; tasks of the cloud are announced by the
/// platform when they are submitted, which is when their endpoints enter the directory.
class SimMembership final : public Membership {
 public:
  SimMembership(World& world, EndpointMap& endpoints, WorldClock& clock)
      : world_(&world), endpoints_(&endpoints), clock_(&clock) {}

  void collect(Time now, std::vector<MembershipEvent>& events) override;
  AgentState alive(EndpointId endpoint, Time now) override;

 private:
  void announce(const ContainerEvent& event, std::vector<MembershipEvent>& events) const;
  void announce(const CloudEvent& event, std::vector<MembershipEvent>& events);

  World* world_;
  EndpointMap* endpoints_;
  WorldClock* clock_;
  std::size_t delivered_ = 0;  ///< container events read so far
};

struct SimBackendOptions {
  ProbeEvaluation evaluation = ProbeEvaluation::kBatch;
  unsigned threads = 1;  ///< never changes a record
  /// Set: every packet is simulated (`evaluation` and `threads` do not matter then).
  std::optional<PacketModeOptions> packets{};
  TelemetryChannelOptions channel{};  ///< of every report; the clocks are the world's
  FlowCounting flow_counting = FlowCounting::kTables;
};

class SimBackend final {
 public:
  SimBackend(World& world, const SimBackendOptions& options);

  Telemetry telemetry();

  const EndpointMap& endpoints() const { return endpoints_; }

  ComponentTable& components() { return components_; }

  /// Null unless packets are simulated.
  PacketProbes* packet_probes() { return packet_probes_.get(); }

 private:
  Probes& probes();
  WorldClock& clock();
  Telemetry sources();

  EndpointMap endpoints_;
  ComponentTable components_;
  std::unique_ptr<SimProbes> closed_form_probes_;  ///< exactly one of the two
  std::unique_ptr<PacketProbes> packet_probes_;
  SimPathTracer paths_;
  SimOverlayInspector overlay_;
  SimFlowTables tables_;
  SimThroughput throughput_;
  SimMembership membership_;
  SimHostInspector hosts_;
  ReportPath reports_;  ///< last: it refers to all of them
};

}  // namespace bonescan
