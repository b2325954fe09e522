#include "model/backend_sim/report_path.h"

namespace bonescan {

ReportPath::ReportPath(const World& world,
                       const EndpointMap& endpoints,
                       const TelemetryChannelOptions& channel,
                       const Telemetry& sources)
    : sources_(sources),
      probes_(&sources.probes),
      throughput_(&sources.throughput),
      membership_(&sources.membership) {
  const HostClockOptions& clocks = world.host_clocks().options();
  const StampSource stamps{&world, &endpoints};
  if (!clocks.exact() || clocks.timestamps != TimestampTaker::kModel) {
    probes_ = &stamped_probes_.emplace(stamps, *probes_);
    throughput_ = &stamped_throughput_.emplace(stamps, *throughput_);
    membership_ = &stamped_membership_.emplace(stamps, *membership_);
  }
  if (!channel.perfect()) {
    const std::uint64_t seed = world.options().seed;
    probes_ = &channel_probes_.emplace(channel, seed, *probes_);
    throughput_ = &channel_throughput_.emplace(channel, seed, *throughput_);
    membership_ = &channel_membership_.emplace(channel, seed, *membership_);
  }
}

Telemetry ReportPath::telemetry() const {
  return {.endpoints = sources_.endpoints,
          .components = sources_.components,
          .probes = *probes_,
          .paths = sources_.paths,
          .overlay = sources_.overlay,
          .tables = sources_.tables,
          .throughput = *throughput_,
          .membership = *membership_,
          .hosts = sources_.hosts};
}

}  // namespace bonescan
