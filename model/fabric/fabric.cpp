#include "model/fabric/fabric.h"

#include "sim/base/check.h"

#include <fmt/format.h>

namespace bonescan {

Fabric::Fabric(const FabricOptions& options) : options_(options) {
  BONESCAN_CHECK(options.segments > 0 && options.hosts_per_segment > 0);
  BONESCAN_CHECK(options.rails > 0 && options.aggregation_switches > 0);
  for (std::uint32_t h = 0; h < host_count(); ++h) {
    for (std::uint32_t rail = 0; rail < options.rails; ++rail) {
      hosts_.push_back(HostId(h));
      tors_.push_back(tor(segment_of(HostId(h)), rail));
    }
  }
}

LinkPath Fabric::path(RnicId source, RnicId target, std::uint32_t aggregation) const {
  const SwitchId from = tor_of(source);
  const SwitchId to = tor_of(target);
  LinkPath path;
  path.links[path.count++] = up(access_cable(source));
  if (from != to) {
    path.links[path.count++] = up(fabric_cable(from, aggregation));
    path.links[path.count++] = down(fabric_cable(to, aggregation));
  }
  path.links[path.count++] = down(access_cable(target));
  return path;
}

std::string Fabric::host_name(HostId host) const {
  return fmt::format("host-{}.{:02}", segment_of(host), host.index() % options_.hosts_per_segment);
}

std::string Fabric::rnic_name(RnicId rnic) const {
  return fmt::format("{}/rnic-{}", host_name(host_of(rnic)), rail_of(rnic));
}

std::string Fabric::switch_name(SwitchId id) const {
  if (is_tor(id)) {
    return fmt::format("tor-{}.{}", id.index() / options_.rails, id.index() % options_.rails);
  }
  return fmt::format("agg-{}", id.index() - tor_count());
}

std::string Fabric::cable_name(CableId cable) const {
  if (is_access(cable)) {
    const RnicId rnic(cable.index());
    return fmt::format("link({}, {})", rnic_name(rnic), switch_name(tor_of(rnic)));
  }
  return fmt::format("link({}, {})",
                     switch_name(tor_end(cable)),
                     switch_name(aggregation(aggregation_end(cable))));
}

}  // namespace bonescan
