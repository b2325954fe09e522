// What native tunnelling of Open vSwitch knows: `tnl/neigh/show` (tunnel neighbours),
// `ovs/route/show` (tunnel routes) and `tnl/ports/show -v` (listening tunnel ports).
//
// Each parser takes the output of its command and skips the headers.  `parse_tunnel_tables` takes
// the three behind each other.  An empty table is a valid answer: that is the finding.
// Pure functions, linear time, output bounded by the input.
#pragma once

#include "detectors/backend_ovs/parse/match_field.h"
#include "sim/base/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

struct TunnelNeighbour {
  std::string ip;
  std::string mac;
  std::string bridge;
};

struct TunnelRoute {
  std::string origin;   ///< "Cached" (from the kernel) or "User"
  std::string prefix;   ///< "10.60.8.0/24"
  std::string device;   ///< "br-phy"
  std::string gateway;  ///< empty if on link
  std::string source;   ///< empty if not printed
  std::string mark;     ///< packet mark, empty if none
  bool local = false;   ///< an address of this host
};

struct TunnelPort {
  std::string name;          ///< "vxlan_sys_4789"
  std::uint32_t number = 0;  ///< of the datapath
  std::vector<MatchField> match;
};

struct TunnelTables {
  std::vector<TunnelNeighbour> neighbours;
  std::vector<TunnelRoute> routes;
  std::vector<TunnelPort> ports;
};

/// @errors kInvalid "line:column: expected ...", kUnavailable with the words of ovs-vswitchd
Expected<std::vector<TunnelNeighbour>> parse_tunnel_neighbours(std::string_view text);
Expected<std::vector<TunnelRoute>> parse_tunnel_routes(std::string_view text);
Expected<std::vector<TunnelPort>> parse_tunnel_ports(std::string_view text);
Expected<TunnelTables> parse_tunnel_tables(std::string_view text);

}  // namespace bonescan::backend_ovs
