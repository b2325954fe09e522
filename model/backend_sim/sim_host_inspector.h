// What a simulated host tells about itself: what of a host the model has.
//
// The GID table of the virtual function, huge pages, the slot of the RNIC, the ports of the bond
// and the state of the port, in the words of the tools that print them; the counters of the RNIC
// are left out, as by a tool that cannot read them.  Thread-compatible.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "model/backend_sim/endpoint_map.h"
#include "model/backend_sim/telemetry_channel_options.h"
#include "model/backend_sim/world_clock.h"

namespace bonescan {

class SimHostInspector final : public HostInspector {
 public:
  SimHostInspector(World& world,
                   const EndpointMap& endpoints,
                   WorldClock& clock,
                   ComponentTable& components,
                   const TelemetryChannelOptions& options)
      : world_(&world),
        endpoints_(&endpoints),
        clock_(&clock),
        components_(&components),
        options_(options) {}

  Expected<HostReport> inspect(EndpointId at, Time now) override;

 private:
  World* world_;
  const EndpointMap* endpoints_;
  WorldClock* clock_;
  ComponentTable* components_;
  TelemetryChannelOptions options_;
};

}  // namespace bonescan
