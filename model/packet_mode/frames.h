// The bytes of a packet: RoCEv2 in UDP/IPv4/Ethernet, and VXLAN around it.
//
//   Ethernet | IPv4 | UDP 4789 | VXLAN | Ethernet | IPv4 | UDP 4791 | BTH | DETH, RETH or AETH |
//   payload | pad | ICRC
//
// The invariant CRC covers what no router may change: eight bytes of ones in the place of the local
// route header, then the packet from the IPv4 header on with type of service, time to live, header
// checksum, UDP checksum and the BTH's reserved byte (FECN, BECN) read as ones.
// UDP checksums are 0 (allowed in IPv4, and usual for both headers); IPv4 header checksums are
// right.
// @source InfiniBand Architecture Specification 1.4 (9.2 to 9.6, A17), RFC 791, 768, 7348
#pragma once

#include "sim/base/units.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

using FrameBytes = std::vector<std::uint8_t>;
using MacAddress = std::array<std::uint8_t, 6>;

constexpr std::uint16_t kRocePort = 4791;

/// BTH opcodes.  @source InfiniBand architecture, table 38; CNP annex A17
enum class RoceOpcode : std::uint8_t {
  kRcWriteOnly = 0x0a,
  kRcAcknowledge = 0x11,
  kUdSendOnly = 0x64,
  kCnp = 0x81,
};

/// AETH syndromes.
constexpr std::uint8_t kAckSyndrome = 0x1f;  ///< ACK, without end-to-end credits
constexpr std::uint8_t kNakPsnSequenceError = 0x60;

/// Link and network header of one frame.
struct FrameAddresses {
  MacAddress source_mac{};
  MacAddress target_mac{};
  std::uint32_t source_ip = 0;  ///< most significant byte first: 10.0.0.1 is 0x0A000001
  std::uint32_t target_ip = 0;
  std::uint16_t source_port = 0;
  std::uint8_t type_of_service = 0;  ///< DSCP and ECN
  std::uint8_t time_to_live = 64;
  std::uint16_t identification = 0;
};

/// One RoCEv2 packet.  Which of the extended fields count follows from the opcode.
struct RocePacket {
  RoceOpcode opcode = RoceOpcode::kUdSendOnly;
  std::uint32_t target_qpn = 0;
  std::uint32_t psn = 0;
  bool acknowledge_request = false;
  std::uint16_t partition_key = 0xFFFF;
  std::uint32_t queue_key = 0;            ///< DETH, UD
  std::uint32_t source_qpn = 0;           ///< DETH, UD
  std::uint64_t remote_address = 0;       ///< RETH, WRITE
  std::uint32_t remote_key = 0;           ///< RETH, WRITE
  std::uint8_t syndrome = kAckSyndrome;   ///< AETH, ACK and NAK
  std::uint32_t message_number = 0;       ///< AETH, ACK and NAK
  std::span<const std::uint8_t> payload;  ///< not owned; not sent with an ACK or a CNP
};

/// An Ethernet frame with one RoCEv2 packet; no frame check sequence.
FrameBytes roce_frame(const FrameAddresses& addresses, const RocePacket& packet);

/// `inner` in a VXLAN tunnel.  REQUIRES: vni < 2^24.
FrameBytes vxlan_frame(const FrameAddresses& outer,
                       std::uint16_t vxlan_port,
                       std::uint32_t vni,
                       std::span<const std::uint8_t> inner);

/// The ICRC of a RoCEv2 packet, in the order of transmission.  `l3` begins with the IPv4 header
/// (20 bytes, no options) and ends before the ICRC.  REQUIRES: at least 40 bytes.
std::array<std::uint8_t, 4> invariant_crc(std::span<const std::uint8_t> l3);

/// CRC-32 of IEEE 802.3: reflected polynomial 0xEDB88320, all ones at first, inverted at the end.
std::uint32_t crc32(std::span<const std::uint8_t> bytes);

/// Checksum of an IPv4 header whose checksum field is 0.
std::uint16_t ipv4_checksum(std::span<const std::uint8_t> header);

}  // namespace bonescan
