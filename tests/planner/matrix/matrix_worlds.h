// Fabrics and links that tests of probe matrices share.
#pragma once

#include "model/fabric/fabric.h"
#include "model/fabric/link_table.h"
#include "model/fabric/router.h"
#include "planner/matrix/path_set.h"

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace bonescan::test {

inline FabricOptions two_tiers(std::uint32_t segments,
                               std::uint32_t hosts,
                               std::uint32_t rails,
                               std::uint32_t aggregations) {
  FabricOptions options;
  options.segments = segments;
  options.hosts_per_segment = hosts;
  options.rails = rails;
  options.aggregation_switches = aggregations;
  return options;
}

inline PathSet path_set(std::uint32_t links,
                        std::initializer_list<std::vector<std::uint32_t>> paths) {
  PathSet set{.link_count = links};
  for (const std::vector<std::uint32_t>& path : paths) {
    set.add(path);
  }
  return set;
}

struct Routed {
  explicit Routed(const FabricOptions& options)
      : fabric(options), links(fabric), router(fabric, links, 7) {}

  Fabric fabric;
  LinkTable links;
  Router router;
};

}  // namespace bonescan::test
