#include "planner/matrix/design_space.h"

#include "sim/base/check.h"

#include <utility>

namespace bonescan {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

}  // namespace

DesignSpace::DesignSpace(const Fabric& fabric,
                         LinkScope scope,
                         std::optional<std::uint32_t> aggregation)
    : fabric_(&fabric), aggregation_(aggregation) {
  BONESCAN_CHECK(!fabric.is_graph());
  const std::uint32_t aggregations = fabric.options().aggregation_switches;
  BONESCAN_CHECK(aggregations > 0);
  has_core_ = fabric.core_count() > 0 && fabric.group_count() > 1;
  cores_ = has_core_ ? fabric.core_count() / aggregations : 0;
  number_.assign(fabric.cable_count(), kNone);
  access_end_.assign(fabric.access_count(), kNone);
  add_ends(scope);
  add_links(scope);
}

void DesignSpace::add_ends(LinkScope scope) {
  const Fabric& fabric = *fabric_;
  const std::uint32_t pools = has_core_ ? 1 : fabric.group_count();
  std::vector<std::uint32_t> tors(pools);
  const auto pool_of_tor = [&](SwitchId tor) { return has_core_ ? 0 : fabric.group_of(tor); };
  for (std::uint32_t t = 0; t < fabric.tor_count(); ++t) {
    ++tors[pool_of_tor(SwitchId(t))];
  }
  pools_.resize(pools);
  const auto add = [&](const End& end) {
    pools_[end.pool].push_back(static_cast<std::uint32_t>(ends_.size()));
    ends_.push_back(end);
  };
  for (std::uint32_t t = 0; t < fabric.tor_count(); ++t) {
    const SwitchId tor(t);
    first_end_.push_back(static_cast<std::uint32_t>(ends_.size()));
    End end{.tor = tor, .group = fabric.group_of(tor), .pool = pool_of_tor(tor), .host = kNone};
    if (tors[end.pool] < 2) {
      continue;
    }
    if (scope == LinkScope::kSwitchLinks) {
      add(end);
      continue;
    }
    for (std::uint32_t h = 0; h < fabric.options().hosts_per_segment; ++h) {
      const HostId host = fabric.host(fabric.segment_of_tor(tor), h);
      const RnicId rnic = fabric.rnic(host, fabric.rail_of_tor(tor));
      for (std::uint32_t port = 0; port < fabric.ports(); ++port) {
        if (fabric.tor_of(rnic, port % fabric.planes()) != tor) {
          continue;
        }
        end.access = fabric.access_cable(rnic, port);
        end.host = host.index();
        access_end_[end.access.index()] = static_cast<std::uint32_t>(ends_.size());
        add(end);
      }
    }
  }
  first_end_.push_back(static_cast<std::uint32_t>(ends_.size()));
}

void DesignSpace::add_link(CableId cable) {
  number_[cable.index()] = static_cast<std::uint32_t>(cables_.size());
  cables_.push_back(cable);
}

void DesignSpace::add_links(LinkScope scope) {
  const Fabric& fabric = *fabric_;
  const std::uint32_t each = fabric.options().aggregation_switches;
  BONESCAN_CHECK(each > 0);
  for (std::uint32_t c = 0; c < fabric.access_count(); ++c) {
    if (scope == LinkScope::kSwitchAndAccessLinks && access_end_[c] != kNone) {
      add_link(CableId(c));
    }
  }
  for (std::uint32_t t = 0; t < fabric.tor_count(); ++t) {
    for (std::uint32_t a = 0; a < each; ++a) {
      if (first_end_[t] != first_end_[t + 1] && (!aggregation_ || *aggregation_ == a)) {
        add_link(fabric.fabric_cable(SwitchId(t), a));
      }
    }
  }
  for (std::uint32_t i = 0; has_core_ && i < fabric.aggregation_count(); ++i) {
    for (std::uint32_t core = 0; core < cores_; ++core) {
      if (!aggregation_ || *aggregation_ == i % each) {
        add_link(fabric.core_cable(fabric.aggregation(i), core));
      }
    }
  }
}

bool DesignSpace::joins(std::uint32_t end1, std::uint32_t end2) const {
  const End& one = ends_[end1];
  const End& other = ends_[end2];
  return one.tor != other.tor && one.pool == other.pool &&
         (one.host != other.host || one.host == kNone);
}

PathSeed DesignSpace::through(std::uint32_t link) const {
  const Fabric& fabric = *fabric_;
  const CableId cable = cables_[link];
  const auto below = [this](std::uint32_t first_tor, std::uint32_t last_tor) {
    return PathSeed{first_end_[first_tor], first_end_[last_tor] - first_end_[first_tor]};
  };
  if (fabric.is_access(cable)) {
    return {access_end_[cable.index()], 1};
  }
  if (fabric.tier_of(cable) == CableTier::kFabric) {
    const std::uint32_t tor = fabric.tor_end(cable).index();
    PathSeed seed = below(tor, tor + 1);
    seed.aggregation = fabric.aggregation_end(cable);
    return seed;
  }
  const SwitchId lower = fabric.lower_switch(cable);
  const std::uint32_t pod = fabric.group_of(lower);
  const std::uint32_t tors =
      fabric.options().segments_per_pod * fabric.options().rails * fabric.planes();
  PathSeed seed = below(pod * tors, std::min((pod + 1) * tors, fabric.tor_count()));
  seed.aggregation = (lower.index() - fabric.tor_count()) % fabric.options().aggregation_switches;
  seed.core = cable.index() - fabric.core_cable(lower, 0).index();
  return seed;
}

void DesignSpace::links(const DesignPath& path, std::vector<std::uint32_t>& links) const {
  const Fabric& fabric = *fabric_;
  const End& one = ends_[path.end1];
  const End& other = ends_[path.end2];
  links.clear();
  if (one.access.valid()) {
    links.push_back(number_[one.access.index()]);
    links.push_back(number_[other.access.index()]);
  }
  links.push_back(number_[fabric.fabric_cable(one.tor, path.aggregation).index()]);
  links.push_back(number_[fabric.fabric_cable(other.tor, path.aggregation).index()]);
  if (between_pods(path.end1, path.end2)) {
    for (const std::uint32_t group : {one.group, other.group}) {
      const SwitchId lower = fabric.aggregation(group, path.aggregation);
      links.push_back(number_[fabric.core_cable(lower, path.core).index()]);
    }
  }
}

}  // namespace bonescan
