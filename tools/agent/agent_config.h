// What one agent is told: who it is, whom it probes, what it may use, and where it looks for
// causes.
//
// There is one way to make an AgentConfig: load_agent_config().  It either returns a configuration
// in which every reference exists and every number is in range, or throws ConfigError.  What only
// the machine can tell (is there such a device, does Open vSwitch answer) is the preflight's part.
// All agents of a job may share one file but for `agent.host`: an endpoint is local to the agent
// whose host it names.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "detectors/telemetry/endpoint.h"
#include "scenarios/schema/schema_key.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// "10.0.0.1:7475" or "[fd00::1]:7475".  Port 0 lets the system choose.
struct SocketAddress {
  std::string address;
  std::uint16_t port = 0;

  bool operator==(const SocketAddress&) const = default;
};

/// An IPv4 address, or an IPv6 address in brackets, a colon and a port.
std::optional<SocketAddress> parse_socket_address(std::string_view text);
std::string to_string(const SocketAddress& address);

struct AgentLimits {
  std::uint32_t probes_per_second = 1000;  ///< of all local endpoints together
  double cpu = 0.10;                       ///< share of one core, the tools it runs included
  std::int64_t memory_bytes = std::int64_t{128} << 20;
  std::int64_t disk_free_bytes = std::int64_t{256} << 20;

  bool operator==(const AgentLimits&) const = default;
};

/// visits.csv is cut at `file_bytes`; `files` of them are kept, the newest without a number.
struct VisitFileOptions {
  std::int64_t file_bytes = std::int64_t{16} << 20;
  std::uint32_t files = 4;  ///< 0: none are written

  bool operator==(const VisitFileOptions&) const = default;
};

struct InventoryEntry {
  std::string name;
  std::string host;
  std::string task = "job";
  std::uint16_t rail = 0;
  std::string tor;
  std::string overlay_ip;
  std::string underlay_ip;
  std::string device;  ///< of a local endpoint: "mlx5_3"
  std::uint8_t port = 1;
  std::optional<std::uint32_t> gid_index;  ///< neither this nor an address: chosen automatically
  std::string gid_address;
};

struct ManagedHost {
  std::string name;
  std::string management;  ///< where its agent listens
};

/// Where the entries of offloaded flows are expected.
enum class OffloadExpectation : std::uint8_t {
  kNone,  ///< flows stay in software
  kTc,    ///< tc filters, in hardware or not
  kHardware,
};

/// How an endpoint is attached to Open vSwitch.
struct OvsPortConfig {
  std::string endpoint;
  std::string interface;            ///< its port, a representor: "pf0vf3"
  std::uint32_t openflow_port = 0;  ///< 0: looked up
  std::string mac;
  std::string tc_device;  ///< whose ingress holds its filters; empty: the interface
};

/// One host whose Open vSwitch this agent can ask.  What is empty is found by asking.
struct OvsHostConfig {
  std::string name;
  std::string control;     ///< control socket of ovs-vswitchd
  std::string management;  ///< OpenFlow management socket of the bridge
  std::string database;
  std::string bridge = "br-int";
  std::string vtep;            ///< tunnel address of the host
  std::string command_prefix;  ///< words before each command: "ip netns exec h1"
  OffloadExpectation offload_table = OffloadExpectation::kNone;
  std::vector<OvsPortConfig> ports;
};

struct AgentConfig {
  std::string host;
  std::string management = "0.0.0.0:7475";
  std::string metrics = "127.0.0.1:9475";  ///< "none": no endpoint
  std::string alertmanager = "none";       ///< URL that alerts are posted to
  std::string output;                      ///< empty: runs/agent-HOST
  Duration flush = std::chrono::seconds(10);
  std::uint64_t seed = 1;
  std::uint16_t queue_pairs = 8;
  std::uint8_t service_level = 0;
  VisitFileOptions visits;
  AgentLimits limits;
  std::vector<InventoryEntry> inventory;
  std::vector<ManagedHost> hosts;
  std::string topology_file;   ///< relative to `file`; empty: none
  bool trace_routers = false;  ///< ask them where the file leaves a choice
  std::vector<OvsHostConfig> ovs;
  PipelineOptions pipeline;  ///< keys `probing` and `detection`
  std::string file;          ///< as given
  std::string hash;          ///< fingerprint of the file's bytes, 16 hexadecimal digits
  std::string text;          ///< those bytes
};

/// @throws ConfigError on anything that is not a valid configuration, a missing file included
AgentConfig load_agent_config(const std::string& file);

/// The same from memory; `file` is only used in messages, and a topology file is not opened.
AgentConfig parse_agent_config(std::string_view text, const std::string& file);

/// The inventory as endpoints, in its order.
EndpointDirectory endpoint_directory(const AgentConfig& config);

/// Every key that the loader accepts.
std::vector<SchemaKey> agent_schema_keys();

}  // namespace bonescan
