// Answers of the sources that are asked only when something looks wrong: the path tracer, the
// overlay inspector, the flow-table source and the host inspector.  Plain data, in the words of the
// tools they wrap.
#pragma once

#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Direction of travel along a link, seen from its first-named end: link(host, tor) up = to the
/// ToR.
enum class LinkDirection : std::uint8_t {
  kUp,
  kDown
};

/// One physical link of a path.
struct PathHop {
  ComponentId link;
  LinkDirection direction = LinkDirection::kUp;

  constexpr auto operator<=>(const PathHop&) const = default;
};

/// The physical links a probe crosses, in order.  The answer hashes on its own five-tuple, so the
/// two ways are independent.
struct TracedPath {
  std::vector<PathHop> request;
  std::vector<PathHop> answer;
};

/// How the replay of a forwarding chain ended.
enum class WalkEnd : std::uint8_t {
  kDelivered,         ///< reached the target's virtual function
  kNoNextHop,         ///< a table miss, a drop or a missing route: nothing comes after
  kLoop,              ///< came back to a place already visited
  kMissingNeighbour,  ///< the tunnel's next hop has no resolved address
  kNotLocal,          ///< left for a host that does not own the target
  kOutOfView,  ///< well as far as it could be seen; the rest is on a host that cannot be asked
};

/// One step of the overlay walk: where the packet is, which rule took it, what the rule did.
struct OverlayHop {
  ComponentId where;  ///< the bridge
  std::string rule;   ///< table and match, as ofproto/trace prints them; "table miss" if none
  std::string action;
};

/// The forwarding chain of one direction of one flow.
struct OverlayWalk {
  std::vector<OverlayHop> hops;
  WalkEnd end = WalkEnd::kDelivered;
  ComponentId culprit;  ///< rule or bridge where the chain breaks; invalid if delivered
  std::string reason;   ///< the line that tells why, empty if delivered
};

/// One flow entry in one table of one RNIC or bridge, in normalized words.
struct FlowEntry {
  bool present = false;
  std::string actions;        ///< normalized; compared between tables
  std::uint64_t packets = 0;  ///< as the table's owner last read it
  Duration used{};            ///< since the last counted packet
};

enum class FlowRole : std::uint8_t {
  kEncap,  ///< from the virtual function into the tunnel
  kDecap,  ///< from the tunnel to the virtual function
};

/// The state of one flow at one RNIC: what OpenFlow says should happen, and what the datapath
/// (software megaflow) and the eswitch (hardware entry) hold.
///
/// On a host whose flows are offloaded through tc, the eswitch's entry is the flower filter.
struct FlowTableRow {
  FlowKey flow;  ///< in the direction of travel through this RNIC
  FlowRole role = FlowRole::kEncap;
  std::string match;
  std::string expected_actions;   ///< ofproto/trace of this five-tuple; "drop" if nothing matches
  bool hardware_expected = true;  ///< this datapath offloads such a flow
  FlowEntry datapath;
  FlowEntry eswitch;
  /// An entry that takes these packets before the flow's own does, and that is not Open vSwitch's:
  /// tables are searched in order, and somebody else wrote into one.
  FlowEntry shadow;
  std::string shadow_match;
};

struct FlowTableDump {
  ComponentId rnic;    ///< whose eswitch it is
  ComponentId bridge;  ///< whose datapath it is
  std::vector<FlowTableRow> rows;
};

/// What the tables at one RNIC counted of the traffic that it sent to one peer.
struct FlowCounter {
  EndpointId peer;
  std::uint64_t bytes = 0;  ///< of all flows to it that are in the tables now, probes included
  Duration age{};           ///< since the oldest of them was installed
};

/// Whom an RNIC has sent to lately: its entries in the tables, added up by peer; ordered by peer.
/// Peers that the directory does not hold are left out.
struct FlowCounterDump {
  ComponentId rnic;
  std::vector<FlowCounter> flows;
};

/// A used row of an RNIC's GID table.
struct GidRow {
  std::uint32_t index = 0;
  std::string gid;   ///< in full: eight groups of four hexadecimal digits
  std::string type;  ///< "RoCE v1", "RoCE v2"; empty if not printed

  auto operator<=>(const GidRow&) const = default;
};

/// The huge pages of one size on a host.
struct HugepagePool {
  std::uint64_t page_size = 0;  ///< bytes
  std::uint64_t pages = 0;
  std::uint64_t free = 0;
  std::uint64_t expected = 0;  ///< what the host's configuration asks for; 0: it does not say

  auto operator<=>(const HugepagePool&) const = default;
};

/// A port below a bond.
struct BondMember {
  std::string name;
  bool up = false;

  auto operator<=>(const BondMember&) const = default;
};

/// What an RNIC's RDMA counters had counted at a moment, all virtual functions together.
struct RdmaCount {
  Time at;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;

  auto operator<=>(const RdmaCount&) const = default;
};

struct PcieLink {
  std::uint32_t width = 0;        ///< lanes now
  std::uint32_t width_limit = 0;  ///< lanes that the device is capable of
  double speed_gts = 0.0;         ///< GT/s now
  double speed_limit_gts = 0.0;

  auto operator<=>(const PcieLink&) const = default;
};

struct PortLink {
  std::string state;            ///< "ACTIVE", as the tools print it
  BitsPerSecond speed{};        ///< now
  BitsPerSecond speed_limit{};  ///< what its bond or its lanes are capable of; 0: not printed

  auto operator<=>(const PortLink&) const = default;
};

/// What one host tells about itself and about the RNIC of one endpoint.  What could not be read is
/// absent, which is not the same as well.
struct HostReport {
  ComponentId host;
  ComponentId rnic;
  std::optional<std::vector<GidRow>> gids;  ///< ascending by index
  std::vector<HugepagePool> hugepages;      ///< ascending by size; empty: not read, or none
  std::vector<BondMember> bond;             ///< empty: no bond, or not read
  std::vector<RdmaCount> counts;            ///< at two moments, ascending; fewer: not read
  std::optional<PcieLink> pcie;
  std::optional<PortLink> port;
};

/// What the rendezvous connection says about the process at the far end.
enum class AgentState : std::uint8_t {
  kAlive,    ///< answered a keep-alive
  kDead,     ///< connection refused or reset: the process is gone, the host is there
  kUnknown,  ///< timed out: nothing can be said
};

enum class MembershipKind : std::uint8_t {
  kReady,     ///< registered with its peers: probe it
  kStopping,  ///< a planned stop: silence is not a failure
  kGone,      ///< the container is deleted
  /// Its GID is another now: whoever is connected to the old one is cut off, though probes find the
  /// new one by themselves.  (New queue pairs of the agent alone are no such event.)
  kAddressChanged,
  /// Its task was submitted: the endpoint is in the directory from now on and not ready yet.
  kSubmitted,
};

std::string_view to_string(MembershipKind kind);

struct MembershipEvent {
  Time at;
  EndpointId endpoint;
  MembershipKind kind = MembershipKind::kReady;
  std::string detail{};  ///< in plain words, may be empty
};

/// Bytes moved by one RNIC in one sampling interval.
struct ThroughputSample {
  Time at;  ///< end of the interval
  EndpointId endpoint;
  std::uint64_t bytes = 0;
};

}  // namespace bonescan
