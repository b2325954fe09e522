#include "model/workload/job_flows.h"

#include "sim/base/rng_stream.h"

#include <array>
#include <optional>

namespace bonescan {
namespace {

/// Who has which place.
class Places final {
 public:
  Places(const Job& job, const Fabric& fabric) : options_(job.options()) {
    rnics_.resize(std::size_t{options_.tp} * options_.dp * options_.pp);
    for (const HostId host : job.hosts()) {
      for (std::uint32_t rail = 0; rail < fabric.options().rails; ++rail) {
        const RnicId rnic = fabric.rnic(host, rail);
        if (const auto place = job.coordinate(rnic)) {
          rnics_[slot(*place)] = rnic;
        }
      }
    }
  }

  RnicId at(const RankCoordinate& place) const { return rnics_[slot(place)]; }

 private:
  std::size_t slot(const RankCoordinate& place) const {
    return place.tensor +
           std::size_t{options_.tp} * (place.data + std::size_t{options_.dp} * place.pipeline);
  }

  JobOptions options_;
  std::vector<RnicId> rnics_;
};

}  // namespace

std::vector<JobFlow> job_flows(const Job& job, const Fabric& fabric) {
  const Places places(job, fabric);
  const JobOptions& options = job.options();
  std::vector<JobFlow> flows;
  const auto add = [&](RnicId source, const RankCoordinate& from, const RankCoordinate& to) {
    const RnicId target = places.at(to);
    if (target.valid() && fabric.host_of(target) != fabric.host_of(source)) {
      const TrafficKind kind =
          from.pipeline == to.pipeline ? TrafficKind::kRing : TrafficKind::kPipeline;
      flows.push_back({source, target, kind, from.pipeline});
    }
  };
  for (const HostId host : job.hosts()) {
    for (std::uint32_t rail = 0; rail < fabric.options().rails; ++rail) {
      const RnicId source = fabric.rnic(host, rail);
      const std::optional<RankCoordinate> place = job.coordinate(source);
      if (!place) {
        continue;
      }
      if (options.dp > 1) {
        add(source, *place, {place->tensor, (place->data + 1) % options.dp, place->pipeline});
      }
      if (place->pipeline + 1 < options.pp) {
        add(source, *place, {place->tensor, place->data, place->pipeline + 1});
      }
      if (place->pipeline > 0) {
        add(source, *place, {place->tensor, place->data, place->pipeline - 1});
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
