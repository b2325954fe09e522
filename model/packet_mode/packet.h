// One packet of the packet-level mode, and the bytes it takes on the wire.
#pragma once

#include "model/fabric/fabric.h"

#include <cstdint>

namespace bonescan {

enum class PacketKind : std::uint8_t {
  kUdRequest,  ///< a probe: UD SEND_ONLY
  kUdAnswer,   ///< its answer, the same kind of packet
  kUdLoad,     ///< open-loop load: nobody answers it
  kRcWrite,    ///< RDMA WRITE of a reliable connection
  kRcAck,
  kRcNak,  ///< PSN sequence error: start again from here
  kCnp,    ///< congestion notification
};

// Header bytes.  @source IEEE 802.3, RFC 768, 791 and 7348, InfiniBand architecture annex A17
constexpr std::uint32_t kEthernetBytes = 14;
constexpr std::uint32_t kIpv4Bytes = 20;
constexpr std::uint32_t kUdpBytes = 8;
constexpr std::uint32_t kVxlanBytes = 8;
constexpr std::uint32_t kVxlanOuterBytes = kEthernetBytes + kIpv4Bytes + kUdpBytes + kVxlanBytes;
constexpr std::uint32_t kBthBytes = 12;
constexpr std::uint32_t kDethBytes = 8;
constexpr std::uint32_t kRethBytes = 16;
constexpr std::uint32_t kAethBytes = 4;
constexpr std::uint32_t kCnpReservedBytes = 16;
constexpr std::uint32_t kIcrcBytes = 4;
constexpr std::uint32_t kFcsBytes = 4;
constexpr std::uint32_t kPreambleAndGapBytes = 20;

/// The extended transport header of a kind.
constexpr std::uint32_t transport_bytes(PacketKind kind) {
  switch (kind) {
    case PacketKind::kUdRequest:
    case PacketKind::kUdAnswer:
    case PacketKind::kUdLoad:
      return kDethBytes;
    case PacketKind::kRcWrite:
      return kRethBytes;
    case PacketKind::kRcAck:
    case PacketKind::kRcNak:
      return kAethBytes;
    case PacketKind::kCnp:
      return kCnpReservedBytes;
  }
  return 0;
}

/// Payload is padded to four bytes.
constexpr std::uint32_t padded(std::uint32_t payload_bytes) {
  return (payload_bytes + 3) / 4 * 4;
}

/// The Ethernet frame as a capture shows it: VXLAN outside, RoCEv2 inside, no frame check sequence.
constexpr std::uint32_t frame_bytes(PacketKind kind, std::uint32_t payload_bytes) {
  return kVxlanOuterBytes + kEthernetBytes + kIpv4Bytes + kUdpBytes + kBthBytes +
         transport_bytes(kind) + padded(payload_bytes) + kIcrcBytes;
}

/// What the frame takes of a link: with check sequence, preamble and gap.
constexpr std::uint32_t wire_bytes(PacketKind kind, std::uint32_t payload_bytes) {
  return frame_bytes(kind, payload_bytes) + kFcsBytes + kPreambleAndGapBytes;
}

/// Which of the eight priorities a DSCP maps to (its class selector).  @source ours: a deployment's
/// choice; 26 gives 3 and 48 gives 6.
constexpr std::uint8_t priority_of(std::uint8_t dscp) {
  return static_cast<std::uint8_t>(dscp >> 3) & 7;
}

struct Packet {
  LinkPath path;
  RnicId source;  ///< of this packet, so the answer's source is the probe's target
  RnicId target;
  std::uint64_t flow = 0;  ///< flow_hash of the five-tuple
  std::uint64_t tag = 0;   ///< meaning is its sender's business
  std::uint32_t wire_bytes = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t psn = 0;
  std::uint16_t source_port = 0;
  PacketKind kind = PacketKind::kUdLoad;
  std::uint8_t dscp = 0;
  std::uint8_t receiver = 0;  ///< who gets it at the end, see PacketNetwork::add_receiver()
  std::uint8_t hop = 0;       ///< index in `path` of the link it is on, or waits for
  bool congestion_experienced = false;
};

}  // namespace bonescan
