// Actions in normalized words, so that what OpenFlow asks for, what the datapath does and what tc
// does can be compared as text.
//
// Ports have their names, set() its fields in order (detectors/localize/table_diff.h sorts them
// again, which does no harm), numbers that differ from run to run (recirculation ids, netlink pids)
// are gone.  A tunnel of the kernel is "set(tunnel(...)),PORT" for both datapath and tc; only the
// fields that every side prints may be compared, so they are asked for first and given back as a
// list to keep.
#pragma once

#include "detectors/backend_ovs/parse/tc_filters.h"
#include "detectors/backend_ovs/port_names.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace bonescan::backend_ovs {

/// Fields of a kernel tunnel that some tools print and others do not: "src", "ttl", "tos".
using TunnelFields = std::set<std::string, std::less<>>;

/// Those that stand in every set(tunnel(...)) of `actions`; all of them if there is none.
TunnelFields tunnel_fields(std::string_view actions);

TunnelFields common_fields(const TunnelFields& a, const TunnelFields& b);

/// Of datapath actions, as dumps and ofproto/trace print them.
std::string datapath_action_words(std::string_view actions,
                                  const PortNames& ports,
                                  const TunnelFields& keep);

/// The actions of a tc filter in the words of the datapath; nullopt if they cannot be put so.
std::optional<std::string> datapath_actions_of(const TcFilter& filter);

}  // namespace bonescan::backend_ovs
