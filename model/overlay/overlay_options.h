// Open vSwitch, offload and tunnel parameters of a host.
#pragma once

#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

enum class Reoffload : std::uint8_t {
  kNever,  ///< offloads only at install: an active flow whose entry is aged out stays in software
  kOnUpcall,  ///< stock OVS: ageing deletes the whole megaflow, the next packet installs it anew
};

enum class OvsVersion : std::uint8_t {
  kV217,
  kV31,
  kV33,
};

/// other_config:offloaded-stats-delay.  3.1 has none (seen in its binary), 3.3 has (documented).
constexpr bool knows_stats_delay(OvsVersion version) {
  return version >= OvsVersion::kV33;
}

/// other_config:tc-policy.
enum class TcPolicy : std::uint8_t {
  kNone,    ///< hardware, and software where hardware refuses
  kSkipSw,  ///< hardware only; what it refuses goes to the kernel datapath
  kSkipHw,  ///< software only
};

struct EswitchOptions {
  std::uint32_t entries = 0;  ///< of each RNIC; 0: as many as are asked for
  TcPolicy tc_policy = TcPolicy::kNone;
  bool rebalance = false;  ///< other_config:offload-rebalance
};

struct OverlayOptions {
  Duration max_idle = std::chrono::seconds(10);               ///< OVS other_config:max-idle
  Duration max_revalidator = std::chrono::milliseconds(500);  ///< OVS other_config:max-revalidator
  Duration counter_refresh = std::chrono::seconds(1);  ///< mlx5 polls flow counters every 1,000 ms
  Reoffload reoffload = Reoffload::kNever;
  OvsVersion version = OvsVersion::kV31;
  std::uint32_t flow_limit = 200'000;    ///< OVS other_config:flow-limit
  std::uint32_t min_revalidate_pps = 5;  ///< OVS other_config:min-revalidate-pps; 0: no lower limit
  Duration offloaded_stats_delay = std::chrono::seconds(2);  ///< if the version has it
  Duration dump_cost = std::chrono::microseconds(5);         ///< of a flow in a sweep @source ours
  std::uint32_t background_flows = 0;  ///< on every host, of others than the jobs of the model
  double cpu_load = 0.0;               ///< of the processors of Open vSwitch, in [0, 0.95]
  EswitchOptions eswitch;
  double ecn_marked_share = 0.0;  ///< packets that arrive with CE and meet a megaflow of their own
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
