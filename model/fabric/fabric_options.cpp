#include "model/fabric/fabric_options.h"

namespace bonescan {

std::string_view to_string(FabricPreset preset) {
  switch (preset) {
    case FabricPreset::kRailOptimized:
      return "rail-optimized";
    case FabricPreset::kRailOnly:
      return "rail-only";
    case FabricPreset::kHpn:
      return "hpn";
    case FabricPreset::kThreeTier:
      return "three-tier";
    case FabricPreset::kGraph:
      return "graph";
  }
  return "";
}

FabricOptions preset_options(FabricPreset preset) {
  FabricOptions options;
  options.preset = preset;
  if (preset == FabricPreset::kHpn) {
    options.segments = 15;
    options.hosts_per_segment = 128;
    options.spare_hosts_per_segment = 8;
    options.aggregation_switches = 60;
    options.access.rate = BitsPerSecond(200'000'000'000);
  }
  return options;
}

}  // namespace bonescan
