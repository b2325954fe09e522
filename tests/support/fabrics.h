// A small fabric of every preset, and every cable as a pair of nodes.
//
// The graph is written down here from the rules in words, not from Fabric's arithmetic, so that a
// search over it is an independent opinion.
#pragma once

#include "model/fabric/fabric.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan::test {

struct NamedFabric {
  std::string name;
  FabricOptions options;
};

inline std::vector<NamedFabric> small_fabrics() {
  FabricOptions base;
  base.segments = 3;
  base.hosts_per_segment = 2;
  base.rails = 2;
  base.aggregation_switches = 4;
  std::vector<NamedFabric> fabrics = {{"rail-optimized", base}};
  base.preset = FabricPreset::kRailOnly;
  fabrics.push_back({"rail-only", base});
  base.preset = FabricPreset::kHpn;
  base.spare_hosts_per_segment = 1;
  fabrics.push_back({"hpn", base});
  base.preset = FabricPreset::kThreeTier;
  base.spare_hosts_per_segment = 0;
  base.segments_per_pod = 2;
  base.core_switches = 8;
  fabrics.push_back({"three-tier", base});
  base.preset = FabricPreset::kRailOptimized;
  base.bond_members = 2;
  fabrics.push_back({"bonds", base});
  return fabrics;
}

/// A cable of the naive graph, by the name that both would print.
struct NaiveCable {
  std::string lower;
  std::string upper;
  std::string name;
};

/// Every cable, in the order of their ids.
inline std::vector<NaiveCable> naive_cables(const FabricOptions& options) {
  const bool hpn = options.preset == FabricPreset::kHpn;
  const bool grouped = options.preset != FabricPreset::kRailOptimized;
  const std::uint32_t ports = hpn ? 2 : options.bond_members;
  const std::uint32_t hosts = options.hosts_per_segment + options.spare_hosts_per_segment;
  const auto number = [](std::uint32_t value) { return std::to_string(value); };
  const auto tor = [&](std::uint32_t s, std::uint32_t r, std::uint32_t p) {
    return "tor-" + number(s) + "." + number(r) + (hpn ? "." + number(p) : "");
  };
  std::vector<NaiveCable> cables;
  for (std::uint32_t p = 0; p < ports; ++p) {
    for (std::uint32_t s = 0; s < options.segments; ++s) {
      for (std::uint32_t h = 0; h < hosts; ++h) {
        for (std::uint32_t r = 0; r < options.rails; ++r) {
          const std::string rnic =
              "host-" + number(s) + "." + (h < 10 ? "0" : "") + number(h) + "/rnic-" + number(r);
          const std::string end = ports > 1 ? rnic + "/port-" + number(p) : rnic;
          const std::string above = tor(s, r, p);
          cables.push_back({rnic, above, "link(" + end + ", " + above + ")"});
        }
      }
    }
  }
  for (std::uint32_t s = 0; s < options.segments; ++s) {
    for (std::uint32_t r = 0; r < options.rails; ++r) {
      for (std::uint32_t p = 0; p < (hpn ? 2u : 1u); ++p) {
        for (std::uint32_t a = 0; a < options.aggregation_switches; ++a) {
          std::uint32_t group = 0;
          if (options.preset == FabricPreset::kRailOnly) {
            group = r;
          } else if (hpn) {
            group = p;
          } else if (options.preset == FabricPreset::kThreeTier) {
            group = s / options.segments_per_pod;
          }
          const std::string above = "agg-" + (grouped ? number(group) + "." : "") + number(a);
          cables.push_back({tor(s, r, p), above, "link(" + tor(s, r, p) + ", " + above + ")"});
        }
      }
    }
  }
  if (options.preset == FabricPreset::kThreeTier) {
    const std::uint32_t pods =
        (options.segments + options.segments_per_pod - 1) / options.segments_per_pod;
    const std::uint32_t each = options.core_switches / options.aggregation_switches;
    for (std::uint32_t pod = 0; pod < pods; ++pod) {
      for (std::uint32_t a = 0; a < options.aggregation_switches; ++a) {
        for (std::uint32_t k = 0; k < each; ++k) {
          const std::string below = "agg-" + number(pod) + "." + number(a);
          const std::string above = "core-" + number(a * each + k);
          cables.push_back({below, above, "link(" + below + ", " + above + ")"});
        }
      }
    }
  }
  return cables;
}

}  // namespace bonescan::test
