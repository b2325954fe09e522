// What can go wrong between a bridge's tunnel port and the wire, and at the ports at both ends.
//
// Of two kinds.  Some states are part of the translation: a new megaflow is made by the newest
// version, an installed one keeps its actions until a sweep has run after the change, as with
// rules (open_flow.h):
//
//   state              the packet                             what an operator sees
//   wrong VNI          leaves, and misses at the receiver     the walk ends there, and names the
//                                                             sender's classify rule
//   no route           drop                                   the walk ends: tunnel routing failed
//   no neighbour       drop, until ARP answers                the walk ends: neighbour cache miss
//   wrong MAC (stale)  leaves, and nobody takes it            nothing: trace, megaflow and eswitch
//                                                             agree; only an inventory of MACs
//                                                             would tell
//
// Tables show "drop" as the expected and as the installed action, so table diffs stay silent.
// The others act on the packet itself, at once, whatever the megaflow says:
//
//   state              the packet                             what an operator sees
//   MTU                too large for the outer packet: lost   nothing; smaller probes pass
//   outer checksum     the receiver's stack drops it          nothing here: its "bad checksum" log
//   spoof check        the VF drops what it sends             the VF's drop counter; its encap flow
//                                                             is idle
//
// Only the walk's ends are quoted (Open vSwitch 3.1, native tunnelling); that a checksum error is
// total and that spoof checks drop everything of a VF are simplifications of ours.
// Thread-compatible.
#pragma once

#include "model/fabric/fabric.h"
#include "model/overlay/version_map.h"
#include "model/packet_mode/packet.h"

#include <compare>
#include <cstdint>
#include <string_view>

namespace bonescan {

enum class TunnelPart : std::uint8_t {
  kVni,        ///< of what the local endpoint sends
  kRoute,      ///< to the remote endpoint's VTEP
  kNeighbour,  ///< the same
};

/// `endpoint` is the local one for the VNI, the remote one for route and neighbour.
struct TunnelKey {
  HostId host;
  TunnelPart part = TunnelPart::kVni;
  RnicId endpoint;

  constexpr auto operator<=>(const TunnelKey&) const = default;
};

enum class TunnelFault : std::uint8_t {
  kNone,
  kWrongVni,
  kNoRoute,
  kNoNeighbour,
  kWrongMac,
};

/// The line of a trace that tells why, empty if the trace does not tell.
std::string_view trace_words(TunnelFault fault);

/// Bytes of an IPv4 packet of a UD probe beside its payload: IPv4, UDP, BTH, DETH, ICRC.
constexpr std::uint32_t kProbeHeaderBytes =
    kIpv4Bytes + kUdpBytes + kBthBytes + kDethBytes + kIcrcBytes;

/// What the tunnel adds to an inner IPv4 packet: inner Ethernet, VXLAN, outer UDP and IPv4.
constexpr std::uint32_t kTunnelHeaderBytes = kEthernetBytes + kVxlanBytes + kUdpBytes + kIpv4Bytes;

class TunnelState final {
 public:
  /// `mtu`: IP MTU of every underlay port.
  TunnelState(const Fabric& fabric, std::uint32_t mtu);

  /// The tunnel of a packet from `source` to `target`, as it was at `at`.
  TunnelFault fault(RnicId source, RnicId target, Time at) const;

  /// False if no part of a translation was ever changed on this host.
  bool changed(HostId host) const { return changed_[host] != 0; }

  /// Does a probe of `payload_bytes` get through the ports of both ends, this way?
  bool passes(RnicId source, RnicId target, std::uint32_t payload_bytes) const {
    const std::uint32_t size = payload_bytes + kProbeHeaderBytes + kTunnelHeaderBytes;
    if (ports_changed_ == 0) [[likely]] {
      return size <= mtu_;
    }
    return size <= mtu(source) && size <= mtu(target) && bad_checksums_[source] == 0;
  }

  /// Does the virtual function let its own packets out?
  bool sends(RnicId rnic) const { return spoof_drops_[rnic] == 0; }

  std::uint32_t mtu(RnicId rnic) const { return mtus_[rnic] == 0 ? mtu_ : mtus_[rnic]; }

  /// Of everything that is not as it should be.
  std::uint64_t fingerprint() const;

  // Commands.
  /// REQUIRES: `now` at or after every earlier change of the key.
  void change(const TunnelKey& key, TunnelFault fault, Time now);
  /// 0: that of all others.
  void set_mtu(RnicId rnic, std::uint32_t mtu);
  void begin_bad_checksums(RnicId rnic);
  void end_bad_checksums(RnicId rnic);
  void begin_spoof_drops(RnicId rnic) { ++spoof_drops_[rnic]; }
  /// REQUIRES: begun.
  void end_spoof_drops(RnicId rnic);

 private:
  const Fabric* fabric_;
  std::uint32_t mtu_;
  std::uint32_t ports_changed_ = 0;  ///< ports whose MTU or checksums are their own
  VersionMap<TunnelKey, TunnelFault> versions_;
  IdVector<HostId, std::uint8_t> changed_;
  IdVector<RnicId, std::uint32_t> mtus_;
  IdVector<RnicId, std::uint16_t> bad_checksums_;
  IdVector<RnicId, std::uint16_t> spoof_drops_;
};

}  // namespace bonescan
