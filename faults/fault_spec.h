// What a scenario asks to be broken, as primitive effects.
//
// A named kind (kinds/fault_kind.h) is a preset of effects; a scenario may also list effects
// itself.  Effects change the world's state and nothing else; CATALOG.md has one row for each.
#pragma once

#include "model/fabric/component_ref.h"
#include "sim/base/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {

enum class EffectKind : std::uint8_t {
  kLinkLoss,         ///< link.loss: a share of the packets is corrupted and dropped
  kLinkDelay,        ///< link.delay: every packet takes longer
  kPortDown,         ///< port.down: nothing passes, both ways
  kPortFlap,         ///< port.flap: down and up in turn
  kRuleRemove,       ///< rule.remove: an OpenFlow rule is gone
  kRuleAlter,        ///< rule.alter: an OpenFlow rule does something else
  kOffloadRemove,    ///< offload.remove: eswitch entries vanish, software megaflows stay
  kCountersFreeze,   ///< counters.freeze: the RNIC stops refreshing its flow counters
  kProcessStop,      ///< process.stop: an agent or ovs-vswitchd stops
  kLinkBer,          ///< link.ber: bit errors, of which FEC and link-level retry leave something
  kTunnelNeighbour,  ///< tunnel.neighbour: a VTEP's neighbour entry is missing or wrong
  kTunnelRoute,      ///< tunnel.route: no route to a VTEP
  kTunnelVni,        ///< tunnel.vni: packets leave in a network that the receiver does not know
  kTunnelMtu,        ///< tunnel.mtu: the underlay port takes only smaller packets
  kTunnelChecksum,   ///< tunnel.checksum: receivers drop what this port encapsulates
  kSpoofDrop,        ///< vf.spoof_drop: the virtual function drops what it sends
  kEswitchCapacity,  ///< eswitch.capacity: others hold all entries but some
  kRulePriority,     ///< rule.priority: a wider rule of software comes before flows' own
  kFlowLimit,        ///< ovs.flow_limit: the working limit is stuck low
  kControlOff,       ///< cc.off: queues of a switch take no part in congestion control
  kCountersSet,      ///< counters.set: the flow counters of an RNIC jump to a value
  kFlowEdit,         ///< flow.edit: one entry is not what Open vSwitch believes it is
  kGidReregister,    ///< gid.reregister: addresses stand at other indexes than before
  kGidSparse,        ///< gid.sparse: indexes between the addresses are taken
  kGidMissing,       ///< gid.missing: addresses of one type or family are not in the table
  kPcieWidth,        ///< pcie.width: the RNIC's slot has lost lanes
  kHugepages,        ///< hugepages.set: a host has fewer huge pages than it is configured for
  kSwitchLoss,       ///< switch.loss: a switch drops a share of what it forwards, its ports stay up
  kLinkRate,         ///< link.rate: a cable carries a share of its rate
  kSwitchDown,       ///< switch.down: a switch is gone, with every cable that ends at it
  kRnicFail,         ///< rnic.fail: the device is broken and gone from its host
  kRnicStall,        ///< rnic.stall: packets of a share of the five-tuples wait in the RNIC
  kOffloadRefuse,    ///< offload.refuse: the RNIC takes no entries, and loses those it has
  kOffloadChurn,     ///< offload.churn: entries are invalidated and come back, again and again
  kBoardError,       ///< pcie.board: RNICs of a host cannot talk to each other, slots are slower
  kGpuDirectOff,     ///< gpudirect.off: GPUs and the RNIC cannot talk directly
  kRdmaBypass,       ///< rdma.bypass: the job's bytes do not go by RDMA
  kContainerCrash,   ///< container.crash: a container is gone, and its agent with it
  kPauseStorm,       ///< pause.storm: one end of a cable has the other pause, again and again
  kHashChange,       ///< hash.change: a switch hashes to two of its uplinks
  kCableSwap,        ///< cable.swap: two RNICs of a host have each other's cables
};

/// Directions of a cable, seen from its first-named end.
enum class EffectDirection : std::uint8_t {
  kUp,
  kDown,
  kBoth
};

/// Which packets an effect touches.  Default: all.
struct PacketSelector {
  std::uint32_t min_bytes = 0;
  std::uint32_t max_bytes = 0xFFFFFFFF;
  std::optional<std::uint8_t> dscp;
  double flow_share = 1.0;  ///< share of five-tuples, chosen by hash

  bool operator==(const PacketSelector&) const = default;
};

/// Which rule of a host's bridge, in the direction of travel.
enum class RuleRole : std::uint8_t {
  kClassify,  ///< table 0: from the local virtual function into its tenant's tables
  kEncap,     ///< table 10: towards one remote endpoint, into the tunnel
  kDeliver,   ///< table 20: out of the tunnel, to the local virtual function
};

enum class RuleAlteration : std::uint8_t {
  kLoop,  ///< resubmits to an earlier table: the translation never ends
  kDrop,  ///< drops
};

enum class NeighbourState : std::uint8_t {
  kMissing,  ///< unresolved: drop until ARP answers
  kStale,    ///< resolved to a MAC that is no longer there
};

enum class EntryEdit : std::uint8_t {
  kAlter,   ///< drops what OpenFlow forwards
  kDelete,  ///< is in no table, and Open vSwitch believes that it is
};

enum class MissingGids : std::uint8_t {
  kRoceV2,  ///< RoCE v1 alone
  kIpv4,    ///< link-local addresses alone
};

struct EffectSpec {
  EffectKind kind = EffectKind::kLinkLoss;
  ComponentRef on;
  EffectDirection direction = EffectDirection::kBoth;
  PacketSelector packets;
  double ratio = 0.0;  ///< link.loss, switch.loss, in [0, 1]
  double ber = 0.0;    ///< link.ber: before FEC, in [0, 0.5]
  Duration delay{};    ///< link.delay, rnic.stall
  Duration down{};     ///< port.flap: time down per cycle; offload.churn: without entries
  Duration up{};       ///< port.flap: time up per cycle; offload.churn: with them
  RuleRole rule = RuleRole::kDeliver;
  std::optional<RnicId> peer;  ///< the remote endpoint of an encap rule, route, neighbour or flow
  RuleAlteration alteration = RuleAlteration::kLoop;
  NeighbourState neighbour = NeighbourState::kMissing;
  std::uint32_t entries = 1;  ///< eswitch.capacity: what is left
  std::uint32_t flows = 1;    ///< ovs.flow_limit
  std::uint32_t mtu = 1'500;  ///< tunnel.mtu
  std::uint32_t value = 0;    ///< counters.set
  EntryEdit edit = EntryEdit::kAlter;
  MissingGids missing = MissingGids::kRoceV2;
  std::uint32_t lanes = 8;  ///< pcie.width: of 16
  std::uint32_t pages = 0;  ///< hugepages.set
  double rate_left = 0.5;   ///< link.rate: in (0, 1]
  double paused = 0.9;      ///< pause.storm: share of the time, in (0, 1]
  double ber_from = 0.0;    ///< link.ber: where it begins, if `over` is not zero
  Duration over{};  ///< link.ber: from ber_from to ber, evenly in its logarithm; zero: at once
};

struct FaultSpec {
  std::string name;  ///< unique in the scenario
  std::string kind;  ///< a named kind, or "custom" for a list of effects
  ComponentRef on;
  Time at;
  Duration duration{};  ///< zero: until the end of the run
  std::vector<EffectSpec> effects;
};

}  // namespace bonescan
