// One host's Open vSwitch as functions: commands go out, parsed answers come back.
//
// What changes rarely (bridges, ports, tunnel ports) is kept for a while; traces and tables are
// always read anew.  Names are asked for instead of numbers throughout: the OpenFlow number of a
// port, its number in the datapath and its name are three different things, and only names are the
// same in rules, traces and dumps.
// Thread-compatible; belongs to the worker thread.
#pragma once

#include "detectors/backend_ovs/command_gate.h"
#include "detectors/backend_ovs/ovs_config.h"
#include "detectors/backend_ovs/parse/datapath_flows.h"
#include "detectors/backend_ovs/parse/openflow_flows.h"
#include "detectors/backend_ovs/parse/openflow_trace.h"
#include "detectors/backend_ovs/parse/tc_filters.h"
#include "detectors/backend_ovs/parse/upcall_stats.h"
#include "detectors/backend_ovs/port_names.h"
#include "detectors/backend_ovs/traced_packet.h"
#include "sim/base/error.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan::backend_ovs {

/// A port of a bridge.
struct PortPlace {
  std::string bridge;
  std::string name;
  std::uint32_t openflow_number = 0;
};

/// Where a tunnel's packets come in.
struct TunnelPlace {
  PortPlace port;
  bool key_visible = true;  ///< false: the port itself takes one key only, and rules do not see it
  std::string datapath_name;  ///< "vxlan_sys_4789"
};

class HostTools final {
 public:
  /// REQUIRES: `host`, `config` and `gate` outlive this object.
  HostTools(const OvsHost& host, const OvsConfig& config, CommandGate& gate)
      : host_(host), config_(config), gate_(gate) {}

  const OvsHost& host() const { return host_; }

  /// How the configuration says that the endpoint is attached; nullptr if it does not.
  const OvsPort* configured_port(std::string_view endpoint) const;

  /// The endpoint's port.
  /// @errors kUnavailable
  Expected<PortPlace> port_of(std::string_view endpoint);

  /// The tunnel port that takes packets from `remote` with this key.
  /// @errors kUnavailable
  Expected<TunnelPlace> tunnel_from(std::string_view remote, std::optional<std::uint64_t> key);

  /// `ofproto/trace` with names.
  /// @errors kUnavailable
  Expected<OpenflowTrace> trace(const std::string& bridge, const std::string& flow);

  /// Every entry of the datapath that holds the integration bridge.  Ethernet addresses of its
  /// packets are remembered on the way.
  /// @errors kUnavailable
  Expected<std::vector<DatapathFlow>> datapath_flows();

  /// The rules of one bridge.
  /// @errors kUnavailable
  Expected<std::vector<OpenflowFlow>> openflow_flows(const std::string& bridge);

  /// @errors kUnavailable
  Expected<const PortNames*> port_names();

  /// Fills in the Ethernet addresses that are not known, from packets that the datapath has seen
  /// between the two IP addresses.
  void fill_ethernet(InnerPacket& packet);

  /// The filters at the ingress of a device, in the order in which packets meet them.
  /// @errors kUnavailable
  Expected<std::vector<TcFilter>> tc_filters(const std::string& device);

 private:
  struct Inventory {
    DpifShow bridges;
    std::vector<DatapathPort> ports;  ///< of the datapath
    PortNames names;
    std::chrono::steady_clock::time_point read;
  };

  Expected<std::string> appctl(std::vector<std::string> arguments);
  Expected<const Inventory*> inventory();
  Expected<std::string> interface_with_mac(const std::string& mac);
  void remember_ethernet(const std::vector<DatapathFlow>& flows);
  bool apply_ethernet(InnerPacket& packet) const;

  const OvsHost& host_;
  const OvsConfig& config_;
  CommandGate& gate_;
  std::optional<Inventory> inventory_;
  /// (IP source, IP target) to (Ethernet source, Ethernet target).
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> ethernet_;
  std::optional<std::chrono::steady_clock::time_point> ethernet_read_;
};

}  // namespace bonescan::backend_ovs
