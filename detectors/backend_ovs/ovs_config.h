// Which hosts with Open vSwitch can be inspected from here, and how.
//
// A host is inspectable if the commands of Open vSwitch can reach its daemons: the local host
// through its sockets, another network namespace through a command prefix ("ip netns exec NAME"),
// in principle a remote host through a prefix of its own.  Plain values, filled by whoever reads
// the configuration; what is left empty is found by asking Open vSwitch.
#pragma once

#include "detectors/backend_ovs/offload_table.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

/// How an endpoint is attached.  One of interface, openflow_port and mac is enough.
struct OvsPort {
  std::string endpoint;             ///< Endpoint::name
  std::string interface;            ///< its port in Open vSwitch, a representor: "pf0vf3"
  std::uint32_t openflow_port = 0;  ///< of the integration bridge
  std::string mac;                  ///< of the endpoint itself; empty: learned from its traffic
  std::string tc_device;            ///< whose ingress holds its filters; empty: the interface
};

struct OvsHost {
  std::string name;  ///< Endpoint::host
  std::string integration_bridge = "br-int";
  /// `ovs-appctl -t`: a control socket; empty: the default of the installation.
  std::string control_socket;
  /// Target of `ovs-ofctl`: a management socket; empty: the integration bridge by name.
  std::string management_socket;
  /// `ovs-vsctl --db`: "unix:/run/openvswitch/db.sock"; empty: the default of the installation.
  std::string database;
  std::string vtep_address;                 ///< where tunnels to this host end
  std::vector<std::string> command_prefix;  ///< {"ip", "netns", "exec", "host-a"}
  std::vector<OvsPort> ports;
  OffloadTable offload_table = OffloadTable::kNone;
};

struct OvsConfig {
  std::vector<OvsHost> hosts;
  Duration command_timeout = std::chrono::seconds(2);
  std::size_t output_bytes_max = std::size_t{16} << 20;
  /// All commands of this process together.
  double commands_per_second = 20.0;
  std::size_t command_burst = 40;
  /// What is known of ports and bridges is asked again after this.
  Duration inventory_lifetime = std::chrono::seconds(30);
  /// How long an answer serves repeated questions after it was first handed out.
  Duration answer_lifetime = std::chrono::seconds(3);
  /// An answer that nobody asked for again is forgotten after this.
  Duration unclaimed_lifetime = std::chrono::seconds(30);
  std::size_t questions_max = 256;
  /// Counters of OpenFlow rules follow those of the datapath by at most this: two revalidator
  /// sweeps.
  Duration statistics_lag = std::chrono::seconds(1);
};

/// What is said of a host that is not among those of the configuration.
inline tl::unexpected<Error> no_view_of(std::string_view host) {
  return fail(ErrorCode::kUnavailable,
              "host " + std::string(host) + " cannot be inspected from here");
}

}  // namespace bonescan::backend_ovs
