// `ovs-appctl dpctl/dump-flows [-m] [--names] [type=...]` and `dpctl/get-flow`.
//
// Traps that this parser knows:
// 1. A banner ("flow-dump from ...") may come first, and again for every PMD thread.
// 2. Without -m neither ufid, offloaded, dp nor wildcarded fields are printed, and ports are
// numbers.
// 3. Commas nest (tnl_push, geneve options): fields are found by bracket depth.  Key order varies.
// 4. No line at all is a valid answer.
// 5. `dp:tc` alone is a tc filter in software; with `offloaded:yes` it is in hardware; `partial`
//    occurs with dp:ovs.  Other names of datapaths exist.
// Pure function, linear time, output bounded by the input.
#pragma once

#include "detectors/backend_ovs/parse/match_field.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

enum class Offloaded : std::uint8_t {
  kAbsent,   ///< not printed
  kPartial,  ///< only the lookup is in hardware
  kYes,
};

struct DatapathFlow {
  std::size_t line = 0;           ///< from 1
  std::string ufid;               ///< empty without -m; changes across restarts, never a key
  std::vector<MatchField> match;  ///< in_port included
  std::string in_port;            ///< name or number, as printed
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;       ///< tc leaves out 14 bytes of Ethernet for each packet
  std::optional<Duration> used;  ///< since the last counted packet; nullopt: never
  std::string tcp_flags;         ///< "SFP.", empty if not printed
  Offloaded offloaded = Offloaded::kAbsent;
  std::string datapath;                  ///< "ovs", "tc", "dpdk", ...; empty without -m
  std::string actions;                   ///< as printed
  std::vector<std::string> action_list;  ///< the same, split at the top level
};

/// @errors kInvalid "line:column: expected ...", kUnavailable with the words of ovs-vswitchd
Expected<std::vector<DatapathFlow>> parse_datapath_flows(std::string_view text);

}  // namespace bonescan::backend_ovs
