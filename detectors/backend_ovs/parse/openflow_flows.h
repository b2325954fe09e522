// `ovs-ofctl dump-flows BRIDGE`, with or without statistics, names and OpenFlow version.
//
// Traps: a reply header line may come first; lines start with a blank; `table=0` and the default
// priority (32768) are left out; nothing at all is a valid answer.
// Pure function, linear time, output bounded by the input.
#pragma once

#include "detectors/backend_ovs/parse/match_field.h"
#include "sim/base/error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

struct OpenflowFlow {
  std::size_t line = 0;  ///< from 1
  std::uint64_t cookie = 0;
  std::uint32_t table = 0;
  std::uint32_t priority = 32768;
  std::optional<std::uint64_t> packets;  ///< nullopt with --no-stats
  std::optional<std::uint64_t> bytes;
  std::vector<MatchField> match;
  std::string match_text;  ///< as printed, without priority
  std::string actions;
};

/// @errors kInvalid "line:column: expected ...", kUnavailable with the words of ovs-ofctl
Expected<std::vector<OpenflowFlow>> parse_openflow_flows(std::string_view text);

}  // namespace bonescan::backend_ovs
