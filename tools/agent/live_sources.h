// The boundary between an agent and the machine it runs on.
//
// The run needs seven sources and a few facts; this is where they come from.  system_sources.h
// opens the real ones, tests bring fakes.  LiveTelemetry puts them together: a source that was not
// configured, or that this machine does not have, answers kUnavailable with the reason, and so the
// reason ends up in the evidence of incidents.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "sim/base/error.h"
#include "tools/agent/agent_clock.h"
#include "tools/agent/agent_config.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class PreflightStatus : std::uint8_t {
  kOk,
  kWarn,     ///< the agent runs, with less to say
  kMissing,  ///< the agent cannot run
};

std::string_view to_string(PreflightStatus status);

/// One thing that was looked at before a run.
struct PreflightRow {
  PreflightStatus status = PreflightStatus::kOk;
  std::string subject;  ///< "device mlx5_0"
  std::string detail;   ///< what was found
  std::string hint;     ///< how to make it better; empty if ok
};

/// All sources while a run lasts.
class LiveSources {
 public:
  virtual ~LiveSources() = default;

  /// Valid as long as the object.
  virtual Telemetry telemetry() = 0;
  /// What happened to devices and peers since the last call, one sentence each, for the log.
  virtual std::vector<std::string> take_notes() = 0;
  /// Tells the peers that silence is planned from now on.  Called at most once.
  virtual void announce_stop() = 0;
};

class LiveSystem {
 public:
  virtual ~LiveSystem() = default;

  /// What works here and what does not.  Changes nothing.
  virtual std::vector<PreflightRow> inspect(const AgentConfig& config) = 0;

  /// REQUIRES: all arguments outlive the sources.
  /// @errors kIo, kNotFound, kInvalid with one sentence
  virtual Expected<std::unique_ptr<LiveSources>> open(const AgentConfig& config,
                                                      const EndpointDirectory& endpoints,
                                                      const AgentClock& clock) = 0;
};

/// Seven sources, each present or explained.
class LiveTelemetry final {
 public:
  struct Parts {
    std::unique_ptr<Probes> probes;          ///< required
    std::unique_ptr<Membership> membership;  ///< required
    std::unique_ptr<PathTracer> paths;
    std::unique_ptr<OverlayInspector> overlay;
    std::unique_ptr<FlowTableSource> tables;
    std::unique_ptr<Throughput> throughput;
    std::unique_ptr<HostInspector> hosts;
    /// Why there is none, for those that are not there.
    std::string no_paths = "no topology is configured";
    std::string no_overlay = "no Open vSwitch is configured";
    std::string no_tables = "no Open vSwitch is configured";
  };

  /// REQUIRES: both outlive it; probes and membership are there.
  LiveTelemetry(Parts parts, const EndpointDirectory& endpoints, ComponentTable& components);

  Telemetry telemetry();

 private:
  Parts parts_;
  const EndpointDirectory& endpoints_;
  ComponentTable& components_;
};

}  // namespace bonescan
