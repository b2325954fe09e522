#include "model/workload/job_flows.h"

#include "sim/base/rng_stream.h"

#include <optional>

namespace bonescan {

std::vector<JobFlow> job_flows(const Job& job, const Fabric& fabric) {
  std::vector<JobFlow> flows;
  for (const HostId host : job.hosts()) {
    for (std::uint32_t rail = 0; rail < fabric.options().rails; ++rail) {
      const RnicId source = fabric.rnic(host, rail);
      const std::optional<RankCoordinate> place = job.coordinate(source);
      if (!place) {
        continue;
      }
      for (const JobLink& link : job.links(source)) {
        flows.push_back({.source = source,
                         .target = link.target,
                         .kind = link.kind,
                         .stage = place->pipeline,
                         .share = link.share,
                         .bytes_per_second = link.bytes_per_second});
      }
    }
  }
  return flows;
}

std::uint16_t job_flow_port(std::uint64_t seed,
                            const Fabric& fabric,
                            RnicId source,
                            RnicId target) {
  // As rdma-core derives it from the flow label: one of the upper 16,384 ports.
  const RngStream stream(seed, Purpose::kLoadPort, 0);
  const std::uint64_t pair = std::uint64_t{source.index()} * fabric.rnic_count() + target.index();
  return static_cast<std::uint16_t>(0xC000u | (stream.at(pair) & 0x3FFFu));
}

}  // namespace bonescan
