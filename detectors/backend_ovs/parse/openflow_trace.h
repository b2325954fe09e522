// `ovs-appctl ofproto/trace`, from a bridge ("br-int FLOW") or a datapath ("DP_FLOW").
//
// The final "Datapath actions: drop" is never the cause: the cause is the table miss, the rule, or
// the remark (" >> native tunnel routing failed") on the way.  A flow that is recirculated is
// translated in several passes, which follow each other in the output.
// Pure function, linear time, output bounded by the input.
#pragma once

#include "sim/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

enum class TraceEnd : std::uint8_t {
  kForwarded,          ///< the datapath actions put the packet out or recirculate it
  kDropped,            ///< a drop rule or a table miss
  kLoop,               ///< translation went too deep: rules or bridges refer to each other
  kNeighbourMissing,   ///< the tunnel's next hop has no resolved address
  kTunnelRouteFailed,  ///< there is no route to the tunnel's remote end
};

std::string_view to_string(TraceEnd end);

/// One table lookup.
struct TraceHop {
  std::size_t line = 0;  ///< from 1
  std::string bridge;
  std::uint32_t table = 0;
  bool miss = false;  ///< no rule matched; `rule` says how the tool puts it
  std::string rule;   ///< as printed: "in_port=1,dl_src=..., priority 100, cookie 0x1"
  std::string match;  ///< of the rule, without priority and cookie; empty matches everything
  std::uint32_t priority = 0;
  std::uint64_t cookie = 0;
  std::vector<std::string> actions;  ///< one for each line, groups and resubmits included
  std::vector<std::string> notes;    ///< lines that start with "->" or ">>", mark included
};

/// One translation: from a "Flow:" line to its "Datapath actions:".
struct TracePass {
  std::string recirculation;  ///< "recirc(0x1) - resume conntrack ..."; empty in the first
  std::string flow;
  std::vector<TraceHop> hops;
  std::string final_flow;  ///< may be "unchanged"
  std::string megaflow;
  std::string datapath_actions;
};

struct OpenflowTrace {
  std::vector<TracePass> passes;  ///< at least one
  TraceEnd end = TraceEnd::kForwarded;
  std::string cause;                 ///< the line that tells why; empty if forwarded
  std::vector<std::string> remarks;  ///< what follows the last datapath actions

  /// The lookup in which the last pass ended; nullptr if no table was looked up.
  const TraceHop* last_hop() const;
};

/// @errors kInvalid "line:column: expected ...", kUnavailable with the words of ovs-vswitchd
Expected<OpenflowTrace> parse_openflow_trace(std::string_view text);

}  // namespace bonescan::backend_ovs
