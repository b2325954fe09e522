#include "model/backend_sim/endpoint_map.h"

#include "model/host/cloud_draws.h"
#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bonescan {

EndpointMap::EndpointMap(const World& world) : endpoints_(world.fabric().rnic_count()) {
  const Fabric& fabric = world.fabric();
  for (std::uint32_t r = 0; r < fabric.rnic_count(); ++r) {
    const RnicId rnic(r);
    const JobPlace& place = world.jobs().place(rnic);
    if (place.job.valid() && !world.in_cloud(rnic)) {
      const Job& job = world.jobs()[place.job.index()];
      append(world, rnic, fabric.rnic_name(rnic), job.options().name);
      if (job.options().rank_order == RankOrder::kKnown) {
        directory_[endpoints_[rnic]].container = job.container(rnic);
      }
      directory_[endpoints_[rnic]].overlay_ip = overlay_address(fabric, rnic);
    }
  }
}

void EndpointMap::append(const World& world, RnicId rnic, std::string name, std::string task) {
  const Fabric& fabric = world.fabric();
  const EndpointId endpoint =
      directory_.push_back({.name = std::move(name),
                            .host = fabric.host_name(fabric.host_of(rnic)),
                            .task = std::move(task),
                            .overlay_ip = {},
                            .underlay_ip = underlay_address(fabric, rnic),
                            .tor = fabric.switch_name(fabric.tor_of(rnic)),
                            .rail = static_cast<std::uint16_t>(fabric.rail_of(rnic))});
  rnics_.push_back(rnic);
  endpoints_[rnic] = endpoint;
  present_.push_back(endpoint);
}

std::optional<EndpointId> EndpointMap::endpoint(RnicId rnic) const {
  if (!endpoints_.contains(rnic) || !endpoints_[rnic].valid()) {
    return std::nullopt;
  }
  return endpoints_[rnic];
}

void EndpointMap::follow(const World& world, const CloudEvent& event) {
  if (event.kind == CloudEventKind::kSubmitted) {
    BONESCAN_CHECK(endpoint_of_lease(event.first_lease).index() == directory_.size());
    const std::string task = task_name(event.task);
    for (const CloudSeat& seat : event.seats) {
      append(world,
             seat.rnic,
             fmt::format("{}/vf-{}@{}", world.fabric().rnic_name(seat.rnic), seat.function, task),
             task);
      directory_[endpoints_[seat.rnic]].overlay_ip = to_string(seat.overlay_address);
    }
  } else if (event.kind == CloudEventKind::kGone) {
    for (std::uint32_t i = 0; i < event.lease_count; ++i) {
      const EndpointId endpoint = endpoint_of_lease(event.first_lease + i);
      endpoints_[rnics_[endpoint]] = {};
    }
  }
}

void EndpointMap::sweep() {
  std::erase_if(present_,
                [&](EndpointId endpoint) { return endpoints_[rnics_[endpoint]] != endpoint; });
}

}  // namespace bonescan
