#include "model/fabric/fabric.h"

#include "sim/base/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace bonescan {

Fabric::Fabric(const FabricOptions& options) : options_(options) {
  BONESCAN_CHECK(options.segments > 0 && options.hosts_per_segment > 0);
  BONESCAN_CHECK(options.rails > 0 && options.aggregation_switches > 0);
  BONESCAN_CHECK(options.bond_members > 0);
  ports_ = options.bond_members;
  switch (options.preset) {
    case FabricPreset::kRailOptimized:
      break;
    case FabricPreset::kRailOnly:
      groups_ = options.rails;
      break;
    case FabricPreset::kHpn:
      planes_ = ports_ = groups_ = 2;
      break;
    case FabricPreset::kThreeTier:
      BONESCAN_CHECK(options.segments_per_pod > 0 && options.core_switches > 0);
      BONESCAN_CHECK(options.core_switches % options.aggregation_switches == 0);
      groups_ = (options.segments + options.segments_per_pod - 1) / options.segments_per_pod;
      cores_ = options.core_switches;
      break;
    case FabricPreset::kGraph:
      BONESCAN_CHECK(options.segments == 1 && options.graph.hosts.size() == host_count());
      BONESCAN_CHECK(options.graph.access_tors.size() == access_count());
      break;
  }
  count_cables();
  for (std::uint32_t h = 0; h < host_count(); ++h) {
    for (std::uint32_t rail = 0; rail < options.rails; ++rail) {
      hosts_.push_back(HostId(h));
      tors_.push_back(is_graph() ? SwitchId(options.graph.access_tors[tors_.size()])
                                 : tor(segment_of(HostId(h)), rail));
    }
  }
}

void Fabric::count_cables() {
  if (is_graph()) {
    const auto trunks = static_cast<std::uint32_t>(options_.graph.trunks.size());
    tor_count_ = options_.graph.tors;
    aggregation_count_ = static_cast<std::uint32_t>(options_.graph.switches.size()) - tor_count_;
    first_core_cable_ = cable_count_ = access_count() + trunks;
    return;
  }
  tor_count_ = options_.segments * options_.rails * planes_;
  aggregation_count_ = groups_ * options_.aggregation_switches;
  first_core_cable_ = access_count() + tor_count_ * options_.aggregation_switches;
  cable_count_ = first_core_cable_ + aggregation_count_ * cores_per_aggregation();
}

std::uint32_t Fabric::group_of(SwitchId id) const {
  if (is_graph()) {
    return 0;
  }
  if (!is_tor(id)) {
    return (id.index() - tor_count()) / options_.aggregation_switches;
  }
  switch (options_.preset) {
    case FabricPreset::kRailOptimized:
      return 0;
    case FabricPreset::kRailOnly:
      return rail_of_tor(id);
    case FabricPreset::kHpn:
      return plane_of_tor(id);
    case FabricPreset::kThreeTier:
      return segment_of_tor(id) / options_.segments_per_pod;
    case FabricPreset::kGraph:
      break;
  }
  return 0;
}

SwitchId Fabric::lower_switch(CableId cable) const {
  if (is_graph()) {
    return SwitchId(options_.graph.trunks[cable.index() - access_count()].lower);
  }
  if (tier_of(cable) == CableTier::kFabric) {
    return tor_end(cable);
  }
  return aggregation((cable.index() - first_core_cable_) / cores_per_aggregation());
}

SwitchId Fabric::upper_switch(CableId cable) const {
  switch (tier_of(cable)) {
    case CableTier::kAccess:
      return tor_of(rnic_end(cable), port_of(cable));
    case CableTier::kFabric:
      if (is_graph()) {
        return SwitchId(options_.graph.trunks[cable.index() - access_count()].upper);
      }
      return aggregation(group_of(tor_end(cable)), aggregation_end(cable));
    case CableTier::kCore:
      break;
  }
  const std::uint32_t index = cable.index() - first_core_cable_;
  const std::uint32_t each = cores_per_aggregation();
  const std::uint32_t position = index / each % options_.aggregation_switches;
  return core(position * each + index % each);
}

LinkPath Fabric::path(RnicId source, RnicId target, const WayChoice& choice) const {
  const SwitchId from = tor_of(source, choice.source_port);
  const SwitchId to = tor_of(target, choice.target_port);
  LinkPath path;
  if (from == to) {
    path.links[path.count++] = up(access_cable(source, choice.source_port));
    path.links[path.count++] = down(access_cable(target, choice.target_port));
    return path;
  }
  if (!connected(from, to)) {
    return path;
  }
  path.links[path.count++] = up(access_cable(source, choice.source_port));
  path.links[path.count++] = up(fabric_cable(from, choice.aggregation));
  if (groups_ > 1 && group_of(from) != group_of(to)) {
    // CORRECTNESS: the a-th aggregation switches of all pods share their core switches.
    path.links[path.count++] =
        up(core_cable(aggregation(group_of(from), choice.aggregation), choice.core));
    path.links[path.count++] =
        down(core_cable(aggregation(group_of(to), choice.aggregation), choice.core));
  }
  path.links[path.count++] = down(fabric_cable(to, choice.aggregation));
  path.links[path.count++] = down(access_cable(target, choice.target_port));
  return path;
}

const TierOptions& Fabric::tier(CableTier tier) const {
  switch (tier) {
    case CableTier::kAccess:
      return options_.access;
    case CableTier::kFabric:
      return options_.fabric;
    case CableTier::kCore:
      break;
  }
  return options_.core;
}

BitsPerSecond Fabric::rate(CableId cable) const {
  BitsPerSecond own = tier(tier_of(cable)).rate;
  if (is_graph() && !is_access(cable)) {
    own = options_.graph.trunks[cable.index() - access_count()].rate;
  }
  return own.count() == 0 ? options_.link_rate : own;
}

double Fabric::tor_oversubscription() const {
  if (is_graph()) {
    return 0.0;
  }
  const double members = planes_ == 1 ? ports_ : 1.0;
  const double down_rate = static_cast<double>(rate(CableId(0)).count()) * members;
  const double up_rate = static_cast<double>(rate(fabric_cable(SwitchId(0), 0)).count());
  return down_rate * options_.hosts_per_segment / (up_rate * options_.aggregation_switches);
}

double Fabric::aggregation_oversubscription() const {
  if (cores_ == 0) {
    return 0.0;
  }
  const double tors = options_.rails * std::min(options_.segments_per_pod, options_.segments);
  const double down_rate = static_cast<double>(rate(fabric_cable(SwitchId(0), 0)).count());
  const double up_rate = static_cast<double>(rate(core_cable(aggregation(0), 0)).count());
  return down_rate * tors / (up_rate * cores_per_aggregation());
}

std::string Fabric::host_name(HostId host) const {
  if (is_graph()) {
    return options_.graph.hosts[host.index()];
  }
  return fmt::format("host-{}.{:02}", segment_of(host), index_in_segment(host));
}

std::string Fabric::rnic_name(RnicId rnic) const {
  return fmt::format("{}/rnic-{}", host_name(host_of(rnic)), rail_of(rnic));
}

std::string Fabric::port_name(RnicId rnic, std::uint32_t port) const {
  return fmt::format("{}/port-{}", rnic_name(rnic), port);
}

std::string Fabric::switch_name(SwitchId id) const {
  if (is_graph()) {
    return options_.graph.switches[id.index()];
  }
  if (is_core(id)) {
    return fmt::format("core-{}", id.index() - tor_count() - aggregation_count());
  }
  if (is_tor(id)) {
    const std::string name = fmt::format("tor-{}.{}", segment_of_tor(id), rail_of_tor(id));
    return planes_ == 1 ? name : fmt::format("{}.{}", name, plane_of_tor(id));
  }
  const std::uint32_t index = id.index() - tor_count();
  if (!names_groups()) {
    return fmt::format("agg-{}", index);
  }
  return fmt::format("agg-{}.{}", group_of(id), index % options_.aggregation_switches);
}

std::string Fabric::cable_name(CableId cable) const {
  const std::string upper = switch_name(upper_switch(cable));
  if (!is_access(cable)) {
    return fmt::format("link({}, {})", switch_name(lower_switch(cable)), upper);
  }
  const RnicId rnic = rnic_end(cable);
  return fmt::format(
      "link({}, {})", ports_ == 1 ? rnic_name(rnic) : port_name(rnic, port_of(cable)), upper);
}

}  // namespace bonescan
