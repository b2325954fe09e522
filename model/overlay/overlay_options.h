// Open vSwitch, offload and tunnel parameters of a host.
#pragma once

#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

enum class Reoffload : std::uint8_t {
  kNever,  ///< offloads only at install: an active flow whose entry is aged out stays in software
  kOnUpcall,  ///< stock OVS: ageing deletes the whole megaflow, the next packet installs it anew
};

struct OverlayOptions {
  Duration max_idle = std::chrono::seconds(10);               ///< OVS other_config:max-idle
  Duration max_revalidator = std::chrono::milliseconds(500);  ///< OVS other_config:max-revalidator
  Duration counter_refresh = std::chrono::seconds(1);  ///< mlx5 polls flow counters every 1,000 ms
  Reoffload reoffload = Reoffload::kNever;
  std::uint16_t vxlan_port = 4789;
  std::uint32_t vni = 100;
  std::uint32_t mtu = 9'216;  ///< IP MTU of underlay ports; inner packets have 50 bytes less
  /// One lookup on the software path. Two of them make the 16 us to 120 us of the paper's Figure
  /// 18; the split per hop is ours.
  Duration slow_path = std::chrono::microseconds(52);
  Duration upcall =
      std::chrono::microseconds(400);  ///< one upcall, on top of the software path @source ours
};

}  // namespace bonescan
