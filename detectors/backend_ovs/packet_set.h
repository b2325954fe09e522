// The packets that a match takes, in one form for OpenFlow, datapath flows and tc filters.
//
// The three spell a match in different words, with masks or prefixes, and print what they wildcard
// or leave it out.  Here a set of packets is a value and a mask for each of a fixed list of header
// fields; two matches can take the same packet exactly if they agree wherever both masks have a
// bit.
//
// Fields that no table decides on between hosts (metadata, connection marks, fragments, TTL) are
// passed over: then sets are larger than the match, and overlap may be seen where there is none in
// them. Plain values.
#pragma once

#include "detectors/backend_ovs/parse/datapath_flows.h"
#include "detectors/backend_ovs/parse/tc_filters.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bonescan::backend_ovs {

enum class PacketField : std::uint8_t {
  kRecirculation,
  kEthSource,
  kEthTarget,
  kEthType,
  kIpSource,  ///< 16 bytes for IPv6, the first 4 for IPv4
  kIpTarget,
  kIpProto,
  kIpTos,
  kSourcePort,  ///< or ICMP type
  kTargetPort,  ///< or ICMP code
  kTunnelId,
  kTunnelSource,
  kTunnelTarget,
};

constexpr std::size_t kPacketFieldCount = 13;

struct MaskedBytes {
  std::array<std::uint8_t, 16> value{};
  std::array<std::uint8_t, 16> mask{};
};

struct PacketSet {
  std::array<MaskedBytes, kPacketFieldCount> fields{};
  /// Part of the match could not be read: the set is larger than the match.
  bool is_wider = false;
};

bool overlap(const PacketSet& a, const PacketSet& b);

/// "udp,in_port=1,dl_src=...,tp_dst=4791", as ofproto/trace prints a packet.
PacketSet packets_of_openflow(std::string_view flow);

PacketSet packets_of(const DatapathFlow& flow);

PacketSet packets_of(const TcFilter& filter);

}  // namespace bonescan::backend_ovs
