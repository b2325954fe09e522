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

/// The switches of a k-ary fat tree, as three tiers with one rail.
inline FabricOptions fat_tree(std::uint32_t k) {
  FabricOptions options;
  options.preset = FabricPreset::kThreeTier;
  options.rails = 1;
  options.hosts_per_segment = k / 2;
  options.segments_per_pod = k / 2;
  options.segments = k * k / 2;
  options.aggregation_switches = k / 2;
  options.core_switches = k * k / 4;
  return options;
}

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
