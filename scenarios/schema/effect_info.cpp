#include "scenarios/schema/effect_info.h"

#include <algorithm>

namespace bonescan {

namespace {

constexpr std::string_view kSelectors = "direction min_packet max_packet dscp flow_share";

/// Of cables and ports.
std::vector<EffectInfo> cable_effects() {
  return {
      {"link.loss",
       EffectKind::kLinkLoss,
       {RefKind::kCable, RefKind::kPort},
       "ratio",
       kSelectors,
       "A share of the packets is corrupted and dropped."},
      {"link.delay",
       EffectKind::kLinkDelay,
       {RefKind::kCable, RefKind::kPort},
       "delay",
       kSelectors,
       "Packets take longer."},
      {"port.down",
       EffectKind::kPortDown,
       {RefKind::kCable, RefKind::kPort},
       "",
       "direction",
       "Nothing passes, both ways, and both ends see it. With `direction: up` or `down` only that "
       "way is dead and its sender does not notice."},
      {"port.flap",
       EffectKind::kPortFlap,
       {RefKind::kCable, RefKind::kPort},
       "down up",
       "",
       "The port is down and up in turn."},
  };
}

/// Of rules, offload and processes, and bit errors.
std::vector<EffectInfo> host_effects() {
  return {
      {"rule.remove",
       EffectKind::kRuleRemove,
       {RefKind::kRnic},
       "",
       "rule to",
       "An OpenFlow rule is gone."},
      {"rule.alter",
       EffectKind::kRuleAlter,
       {RefKind::kRnic},
       "",
       "rule to alteration",
       "An OpenFlow rule does something else."},
      {"offload.remove",
       EffectKind::kOffloadRemove,
       {RefKind::kRnic},
       "",
       "",
       "The eswitch entries of the RNIC vanish; the software flows stay."},
      {"counters.freeze",
       EffectKind::kCountersFreeze,
       {RefKind::kRnic},
       "",
       "",
       "The RNIC stops refreshing its flow counters."},
      {"process.stop",
       EffectKind::kProcessStop,
       {RefKind::kAgent, RefKind::kOvs},
       "",
       "",
       "The probing agent, or Open vSwitch, of a host stops."},
      {"link.ber",
       EffectKind::kLinkBer,
       {RefKind::kCable, RefKind::kPort},
       "ber",
       "ber_from over direction min_packet max_packet dscp flow_share",
       "Bit errors: what forward error correction and link-level retry leave of them is lost."},
  };
}

/// Of tunnels.
std::vector<EffectInfo> tunnel_effects() {
  return {
      {"tunnel.neighbour",
       EffectKind::kTunnelNeighbour,
       {RefKind::kRnic},
       "to",
       "neighbour",
       "The host's neighbour entry for the VTEP of `to` is missing, or has a wrong MAC."},
      {"tunnel.route",
       EffectKind::kTunnelRoute,
       {RefKind::kRnic},
       "to",
       "",
       "The host has no route to the VTEP of `to`."},
      {"tunnel.vni",
       EffectKind::kTunnelVni,
       {RefKind::kRnic},
       "",
       "",
       "What the RNIC's virtual function sends leaves with a VNI that no receiver knows."},
      {"tunnel.mtu",
       EffectKind::kTunnelMtu,
       {RefKind::kRnic},
       "mtu",
       "",
       "The underlay port takes only outer IP packets of at most `mtu` bytes."},
      {"tunnel.checksum",
       EffectKind::kTunnelChecksum,
       {RefKind::kRnic},
       "",
       "",
       "The outer UDP checksum of what the RNIC encapsulates is wrong: receivers drop it."},
      {"vf.spoof_drop",
       EffectKind::kSpoofDrop,
       {RefKind::kRnic},
       "",
       "",
       "The spoof check of the virtual function drops what it sends; what it receives passes."},
  };
}

/// Of eswitches, flow limits, queues and counters.
std::vector<EffectInfo> table_effects() {
  return {
      {"eswitch.capacity",
       EffectKind::kEswitchCapacity,
       {RefKind::kRnic},
       "entries",
       "",
       "Others hold the eswitch's entries, all but `entries`: later flows stay in software."},
      {"rule.priority",
       EffectKind::kRulePriority,
       {RefKind::kRnic},
       "",
       "flow_share",
       "Rules are offloaded in a wrong order: a wider one, in software only, comes first."},
      {"ovs.flow_limit",
       EffectKind::kFlowLimit,
       {RefKind::kOvs},
       "flows",
       "",
       "The working flow limit of Open vSwitch is stuck at `flows`."},
      {"cc.off",
       EffectKind::kControlOff,
       {RefKind::kSwitch},
       "",
       "",
       "The queues of a switch take no part in congestion control; seen with `load.model: links` "
       "where they are offered more than they carry."},
      {"counters.set",
       EffectKind::kCountersSet,
       {RefKind::kRnic},
       "value",
       "",
       "The packet counters of the RNIC's flows jump to `value` and count on from there."},
      {"flow.edit",
       EffectKind::kFlowEdit,
       {RefKind::kRnic},
       "to",
       "edit",
       "The entry of what the RNIC sends to `to` is not what Open vSwitch believes it is."},
  };
}

/// Of what only the host itself can tell.
std::vector<EffectInfo> device_effects() {
  return {
      {"gid.reregister",
       EffectKind::kGidReregister,
       {RefKind::kRnic},
       "",
       "",
       "The addresses of the RNIC's virtual function are registered again while a live queue pair "
       "holds one: they stand at other indexes, and who remembers one has no address."},
      {"gid.sparse",
       EffectKind::kGidSparse,
       {RefKind::kRnic},
       "",
       "",
       "Entries of other containers stand between the addresses: who is configured with a fixed "
       "index finds nothing there. Probes look their address up and see nothing."},
      {"gid.missing",
       EffectKind::kGidMissing,
       {RefKind::kRnic},
       "missing",
       "",
       "Addresses of one type or family are not in the table."},
      {"pcie.width",
       EffectKind::kPcieWidth,
       {RefKind::kRnic},
       "lanes",
       "",
       "The slot of the RNIC runs with `lanes` of 16 lanes: it carries less, which probes see only "
       "with `load.model: links` and load that waits for it."},
      {"hugepages.set",
       EffectKind::kHugepages,
       {RefKind::kHost},
       "pages",
       "",
       "The host has only `pages` huge pages of 2 MiB, of 128 for each RNIC that it is configured "
       "for: a probing process that starts needs 64 for its RNIC, and does not start without."},
  };
}

/// Of what operators report beside: switches and links that do less than they say.
std::vector<EffectInfo> reported_effects() {
  return {
      {"switch.loss",
       EffectKind::kSwitchLoss,
       {RefKind::kSwitch},
       "ratio",
       "min_packet max_packet dscp flow_share",
       "A share of the packets that a switch forwards is dropped; its ports stay up."},
      {"link.rate",
       EffectKind::kLinkRate,
       {RefKind::kCable, RefKind::kPort},
       "rate_left",
       "direction",
       "The cable carries that share of its rate, which probes see only with `load.model: links` "
       "and load that waits for it."},
  };
}

/// Of the paper's Table 1, as far as nothing else makes them.
std::vector<EffectInfo> table_one_effects() {
  return {
      {"switch.down",
       EffectKind::kSwitchDown,
       {RefKind::kSwitch},
       "",
       "",
       "A switch is gone, with every cable that ends at it."},
      {"rnic.fail",
       EffectKind::kRnicFail,
       {RefKind::kRnic},
       "",
       "",
       "The RNIC is broken: its ports are down, and its host knows no such device any more."},
      {"rnic.stall",
       EffectKind::kRnicStall,
       {RefKind::kRnic},
       "delay",
       "flow_share",
       "The firmware does not respond to certain flows: each of their packets waits in the RNIC."},
      {"offload.refuse",
       EffectKind::kOffloadRefuse,
       {RefKind::kRnic},
       "",
       "",
       "Encapsulation cannot be offloaded: the RNIC loses its entries and takes no new ones."},
      {"offload.churn",
       EffectKind::kOffloadChurn,
       {RefKind::kRnic},
       "down up",
       "",
       "The entries of the RNIC are invalidated and put back, again and again."},
      {"pcie.board",
       EffectKind::kBoardError,
       {RefKind::kHost},
       "",
       "",
       "The board of the host has PCIe errors: its RNICs cannot talk to each other, and their "
       "slots "
       "run at half of their speed."},
      {"gpudirect.off",
       EffectKind::kGpuDirectOff,
       {RefKind::kRnic},
       "",
       "",
       "GPUs and the RNIC cannot talk directly: data go by host memory, where probes begin "
       "anyway."},
      {"rdma.bypass",
       EffectKind::kRdmaBypass,
       {RefKind::kRnic},
       "",
       "",
       "What the job sends from the RNIC goes by TCP: the RDMA counters do not move."},
      {"container.crash",
       EffectKind::kContainerCrash,
       {RefKind::kRnic},
       "",
       "",
       "The container that has the RNIC is gone, unannounced, and its agent with it."},
  };
}

/// Of pauses and of ways that were not planned.
std::vector<EffectInfo> way_effects() {
  return {
      {"pause.storm",
       EffectKind::kPauseStorm,
       {RefKind::kCable, RefKind::kPort},
       "paused",
       "direction",
       "The end that `direction` leads to has the other end pause for that share of the time: "
       "what goes there waits, and with `load.model: links` the ports behind it are paused too."},
      {"hash.change",
       EffectKind::kHashChange,
       {RefKind::kSwitch},
       "",
       "",
       "Of the switch's hash one bit is left: it uses two of its uplinks, and the rest are idle. "
       "Seen with `load.model: links` where two are not enough."},
      {"cable.swap",
       EffectKind::kCableSwap,
       {RefKind::kRnic},
       "to",
       "",
       "The RNIC and `to`, another of its host, have each other's cables: their packets go in and "
       "out by each other's ToR."},
  };
}

std::vector<EffectInfo> all_effects() {
  std::vector<EffectInfo> all = cable_effects();
  for (const std::vector<EffectInfo>& more : {host_effects(),
                                              tunnel_effects(),
                                              table_effects(),
                                              device_effects(),
                                              reported_effects(),
                                              table_one_effects(),
                                              way_effects()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace

const std::vector<EffectInfo>& effect_infos() {
  static const std::vector<EffectInfo> kInfos = all_effects();
  return kInfos;
}

std::string_view example_of(RefKind kind) {
  switch (kind) {
    case RefKind::kHost:
      return "a host, as in host-2.05";
    case RefKind::kRnic:
      return "an RNIC, as in host-2.05/rnic-3";
    case RefKind::kSwitch:
      return "a switch, as in tor-1.3 or agg-2";
    case RefKind::kCable:
      return "a cable, as in link(tor-1.3, agg-2)";
    case RefKind::kPort:
      return "a port of a bond, as in host-2.05/rnic-3/port-1";
    case RefKind::kOvs:
      return "an Open vSwitch, as in host-2.05/ovs";
    case RefKind::kAgent:
      return "an agent, as in host-2.05/agent";
  }
  return "";
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) {
      words.push_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace bonescan
