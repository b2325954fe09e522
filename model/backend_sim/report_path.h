// What stands between the simulated sources and the seam: the hosts' clocks, then the channel.
//
// Only what the options ask for is put there; with options that are not set the seam is the sources
// themselves.
#pragma once

#include "model/backend_sim/record_stamps.h"
#include "model/backend_sim/telemetry_channel.h"

#include <optional>

namespace bonescan {

class ReportPath final {
 public:
  /// REQUIRES: everything outlives this, and this does not move.
  ReportPath(const World& world,
             const EndpointMap& endpoints,
             const TelemetryChannelOptions& channel,
             const Telemetry& sources);
  ReportPath(const ReportPath&) = delete;
  ReportPath& operator=(const ReportPath&) = delete;

  Telemetry telemetry() const;

 private:
  Telemetry sources_;
  Probes* probes_;
  Throughput* throughput_;
  Membership* membership_;
  std::optional<StampedProbes> stamped_probes_;
  std::optional<StampedThroughput> stamped_throughput_;
  std::optional<StampedMembership> stamped_membership_;
  std::optional<ChannelProbes> channel_probes_;
  std::optional<ChannelThroughput> channel_throughput_;
  std::optional<ChannelMembership> channel_membership_;
};

}  // namespace bonescan
