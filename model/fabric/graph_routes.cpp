#include "model/fabric/graph_routes.h"

#include "sim/base/check.h"

namespace bonescan {

GraphRoutes::GraphRoutes(const Fabric& fabric)
    : exits_(fabric.switch_count()),
      distances_(std::size_t{fabric.tor_count()} * fabric.switch_count(), kUnreachable) {
  for (std::uint32_t i = 0; i < fabric.trunk_count(); ++i) {
    const CableId cable = fabric.trunk(i);
    const SwitchId lower = fabric.lower_switch(cable);
    const SwitchId upper = fabric.upper_switch(cable);
    exits_[lower.index()].push_back({upper, Fabric::up(cable)});
    exits_[upper.index()].push_back({lower, Fabric::down(cable)});
  }
  for (std::uint32_t t = 0; t < fabric.tor_count(); ++t) {
    measure(SwitchId(t));
  }
}

void GraphRoutes::measure(SwitchId tor) {
  std::uint8_t* const distances = &distances_[tor.index() * exits_.size()];
  distances[tor.index()] = 0;
  std::vector<SwitchId> open = {tor};
  for (std::size_t next = 0; next < open.size(); ++next) {
    const std::uint8_t here = distances[open[next].index()];
    if (here + 1 == kUnreachable) {
      continue;
    }
    for (const Exit& exit : exits_[open[next].index()]) {
      if (distances[exit.to.index()] == kUnreachable) {
        distances[exit.to.index()] = static_cast<std::uint8_t>(here + 1);
        open.push_back(exit.to);
      }
    }
  }
}

void GraphRoutes::append_path(SwitchId from,
                              SwitchId to,
                              std::uint64_t flow,
                              std::span<const SwitchHash> hashes,
                              const LinkTable& links,
                              LinkPath& path) const {
  BONESCAN_DCHECK(distance(from, to) <= kFarthest);
  for (SwitchId at = from; at != to;) {
    const std::vector<Exit>& exits = exits_[at.index()];
    const auto nearer = [&](const Exit& exit) {
      return distance(exit.to, to) + 1 == distance(at, to);
    };
    std::uint32_t count = 0;
    std::uint32_t used = 0;
    for (const Exit& exit : exits) {
      if (nearer(exit)) {
        ++count;
        used += links.excluded(exit.link) ? 0 : 1;
      }
    }
    const bool choosy = used > 0 && used < count;
    std::uint32_t rank = ecmp_member(flow, hashes[at.index()], choosy ? used : count);
    for (const Exit& exit : exits) {
      if (nearer(exit) && (!choosy || !links.excluded(exit.link)) && rank-- == 0) {
        path.links[path.count++] = exit.link;
        at = exit.to;
        break;
      }
    }
  }
}

}  // namespace bonescan
