// A scenario as values: what one YAML file says, checked, with every default filled in.
//
// There is one way to make a Scenario: load_scenario().  It either returns a scenario in which
// every reference exists and every number is in range, or throws ConfigError.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "faults/confounder_options.h"
#include "faults/fault_spec.h"
#include "faults/processes/failure_options.h"
#include "model/backend_sim/telemetry_channel_options.h"
#include "model/fabric/fabric.h"
#include "model/host/cloud_options.h"
#include "model/host/host_clock.h"
#include "model/latency/latency_model_options.h"
#include "model/overlay/overlay_options.h"
#include "model/workload/job_options.h"
#include "model/workload/load_options.h"

#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

struct Scenario {
  std::string name;
  std::string description;
  Duration duration{};
  std::uint64_t seed = 1;
  FabricOptions fabric;
  OverlayOptions overlay;
  LatencyModelOptions latency;
  std::vector<JobOptions> jobs;
  CloudOptions cloud;
  LoadOptions load;
  PipelineOptions pipeline;  ///< keys `probing` and `detection`
  ConfounderOptions confounders;
  TelemetryChannelOptions telemetry;  ///< keys `confounders.telemetry`
  HostClockOptions clocks;
  std::vector<FaultSpec> faults;
  FailureOptions failures;  ///< those that arise by themselves
  std::string hash;         ///< fingerprint of the file's bytes after --set, 16 hexadecimal digits
  std::string text;         ///< those bytes
};

}  // namespace bonescan
