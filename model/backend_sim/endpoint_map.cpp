#include "model/backend_sim/endpoint_map.h"

namespace bonescan {

EndpointMap::EndpointMap(const World& world) : endpoints_(world.fabric().rnic_count()) {
  const Fabric& fabric = world.fabric();
  for (std::uint32_t r = 0; r < fabric.rnic_count(); ++r) {
    const RnicId rnic(r);
    for (const Job& job : world.jobs()) {
      if (!job.coordinate(rnic)) {
        continue;
      }
      endpoints_[rnic] =
          directory_.push_back({.name = fabric.rnic_name(rnic),
                                .host = fabric.host_name(fabric.host_of(rnic)),
                                .task = job.options().name,
                                .overlay_ip = overlay_address(fabric, rnic),
                                .underlay_ip = underlay_address(fabric, rnic),
                                .tor = fabric.switch_name(fabric.tor_of(rnic)),
                                .rail = static_cast<std::uint16_t>(fabric.rail_of(rnic))});
      rnics_.push_back(rnic);
      break;
    }
  }
}

std::optional<EndpointId> EndpointMap::endpoint(RnicId rnic) const {
  if (!endpoints_.contains(rnic) || !endpoints_[rnic].valid()) {
    return std::nullopt;
  }
  return endpoints_[rnic];
}

}  // namespace bonescan
