// State of the datapath in three views: `upcall/show` (flow limit, revalidators), `dpctl/show [-s]`
// (lookups, ports by datapath number) and `dpif/show` (bridges, ports by OpenFlow number).
//
// The last two are the dictionary between names, OpenFlow numbers and datapath numbers, which other
// dumps mix.  Each takes only its own output.  Pure functions, linear time, output bounded by the
// input.
#pragma once

#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

struct RevalidatorKeys {
  std::uint32_t thread = 0;
  std::uint64_t keys = 0;
};

struct UpcallStats {
  std::string datapath;  ///< "system@ovs-system"
  std::uint64_t flows = 0;
  std::uint64_t average_flows = 0;
  std::uint64_t max_flows = 0;
  std::uint64_t flow_limit = 0;  ///< starts at 10,000; falls when dumps are slow
  std::optional<std::uint64_t> offloaded_flows;
  Duration dump_duration{};
  bool ufid_enabled = false;
  std::vector<RevalidatorKeys> revalidators;
};

struct DatapathPort {
  std::uint32_t number = 0;
  std::string name;
  std::string type;     ///< "internal", "vxlan", ...; empty if not printed
  std::string options;  ///< what follows the type: "packet_type=ptap"
};

struct DatapathShow {
  std::string datapath;
  std::uint64_t hit = 0;
  std::uint64_t missed = 0;
  std::uint64_t lost = 0;  ///< upcalls that found no room
  std::uint64_t flows = 0;
  std::vector<DatapathPort> ports;
};

struct BridgePort {
  std::string name;
  std::uint32_t openflow_number = 0;
  std::optional<std::uint32_t> datapath_number;  ///< nullopt: "none", not in the datapath
  std::string type;
  std::string options;  ///< "key=5001, local_ip=10.60.8.11, remote_ip=10.60.8.12"
};

struct BridgeShow {
  std::string name;
  std::vector<BridgePort> ports;
};

struct DpifShow {
  std::string datapath;
  std::uint64_t hit = 0;
  std::uint64_t missed = 0;
  std::vector<BridgeShow> bridges;
};

/// One element for each datapath.
/// @errors kInvalid "line:column: expected ...", kUnavailable with the words of ovs-vswitchd
Expected<std::vector<UpcallStats>> parse_upcall_show(std::string_view text);
Expected<std::vector<DatapathShow>> parse_datapath_show(std::string_view text);
Expected<std::vector<DpifShow>> parse_dpif_show(std::string_view text);

}  // namespace bonescan::backend_ovs
