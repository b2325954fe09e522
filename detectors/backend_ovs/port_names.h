// One name for each port of a datapath, whichever number or name a tool uses for it.
//
// The same port is "pA" in a verbose dump, 5 in a plain one and 1 of br-int in OpenFlow; a tunnel
// port is "vx0" of a bridge and "vxlan_sys_4789" of the datapath.  What is not known stays as it
// is.
#pragma once

#include "detectors/backend_ovs/parse/upcall_stats.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bonescan::backend_ovs {

class PortNames final {
 public:
  /// Of `dpctl/show`.
  void add(const DatapathShow& show);
  /// Of `dpif/show`.
  void add(const DpifShow& show);

  /// The name of a port that a datapath's dump calls `port` (number or name).
  std::string of_datapath(std::string_view port) const;

  /// The name of the port that OpenFlow of `bridge` calls `port`; nullopt if it is not known.
  std::optional<std::string> of_openflow(std::string_view bridge, std::string_view port) const;

 private:
  std::optional<std::uint32_t> number_of(std::string_view port) const;

  std::map<std::uint32_t, std::string> datapath_names_;
  std::map<std::uint32_t, std::string> bridge_names_;  ///< if the datapath's name is not known
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> openflow_;
};

}  // namespace bonescan::backend_ovs
