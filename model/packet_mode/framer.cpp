#include "model/packet_mode/framer.h"

#include <string>

namespace bonescan {
namespace {

constexpr std::uint8_t kEcnCapable = 2;
constexpr std::uint8_t kEcnExperienced = 3;

// Numbers that endpoints would agree upon.  @source ours
constexpr std::uint32_t kProbeQueueKey = 0x11111111;
constexpr std::uint32_t kFirstProbeQpn = 0x000100;
constexpr std::uint32_t kFirstFlowQpn = 0x010000;
constexpr std::uint64_t kRemoteAddress = 0x7F0000000000;
constexpr std::uint32_t kRemoteKey = 0x1801;
constexpr std::uint16_t kFirstTunnelPort = 49'152;
constexpr std::uint64_t kTunnelPorts = 16'384;

/// Locally administered; `role` tells the two sides of a tunnel endpoint apart.
MacAddress mac_of(std::uint8_t role, RnicId rnic) {
  const std::uint32_t index = rnic.index();
  return {0x02,
          role,
          0x00,
          static_cast<std::uint8_t>(index >> 16),
          static_cast<std::uint8_t>(index >> 8),
          static_cast<std::uint8_t>(index)};
}

/// REQUIRES: four decimal numbers with dots, as the world writes addresses.
std::uint32_t address_of(const std::string& text) {
  std::uint32_t address = 0;
  std::uint32_t part = 0;
  for (const char c : text) {
    if (c == '.') {
      address = address << 8 | part;
      part = 0;
    } else {
      part = part * 10 + static_cast<std::uint32_t>(c - '0');
    }
  }
  return address << 8 | part;
}

bool reliable(PacketKind kind) {
  return kind == PacketKind::kRcWrite || kind == PacketKind::kRcAck || kind == PacketKind::kRcNak ||
         kind == PacketKind::kCnp;
}

RocePacket roce_packet(const Packet& packet, std::span<const std::uint8_t> payload) {
  RocePacket roce;
  roce.psn = packet.psn;
  roce.payload = payload;
  if (reliable(packet.kind)) {
    roce.target_qpn = kFirstFlowQpn + static_cast<std::uint32_t>(packet.tag & 0xFFFF);
  } else {
    roce.target_qpn = kFirstProbeQpn + packet.target.index();
  }
  switch (packet.kind) {
    case PacketKind::kUdRequest:
    case PacketKind::kUdAnswer:
    case PacketKind::kUdLoad:
      roce.opcode = RoceOpcode::kUdSendOnly;
      roce.queue_key = kProbeQueueKey;
      roce.source_qpn = kFirstProbeQpn + packet.source.index();
      break;
    case PacketKind::kRcWrite:
      roce.opcode = RoceOpcode::kRcWriteOnly;
      roce.acknowledge_request = true;
      roce.remote_address = kRemoteAddress + std::uint64_t{packet.psn} * packet.payload_bytes;
      roce.remote_key = kRemoteKey;
      break;
    case PacketKind::kRcAck:
      // An ACK names the last packet that was taken, a NAK the first that is missing.
      roce.opcode = RoceOpcode::kRcAcknowledge;
      roce.message_number = packet.psn;
      roce.psn = packet.psn - 1;
      break;
    case PacketKind::kRcNak:
      roce.opcode = RoceOpcode::kRcAcknowledge;
      roce.syndrome = kNakPsnSequenceError;
      roce.message_number = packet.psn;
      break;
    case PacketKind::kCnp:
      roce.opcode = RoceOpcode::kCnp;
      break;
  }
  return roce;
}

}  // namespace

Framer::Framer(const World& world)
    : vxlan_port_(world.options().overlay.vxlan_port), vni_(world.options().overlay.vni) {
  constexpr std::uint8_t kInner = 0xBB;
  constexpr std::uint8_t kOuter = 0xAA;
  const Fabric& fabric = world.fabric();
  for (std::uint32_t r = 0; r < fabric.rnic_count(); ++r) {
    const RnicId rnic(r);
    addresses_.push_back({.inner_mac = mac_of(kInner, rnic),
                          .outer_mac = mac_of(kOuter, rnic),
                          .inner_ip = address_of(overlay_address(fabric, rnic)),
                          .outer_ip = address_of(underlay_address(fabric, rnic))});
  }
}

FrameBytes Framer::frame(const Packet& packet) const {
  const Addresses& from = addresses_[packet.source];
  const Addresses& to = addresses_[packet.target];
  FrameBytes payload(packet.payload_bytes);
  for (std::size_t i = 0; i < payload.size(); ++i) {
    payload[i] = static_cast<std::uint8_t>(i);
  }
  const bool notification = packet.kind == PacketKind::kCnp;
  const std::uint8_t ecn = notification                    ? std::uint8_t{0}
                           : packet.congestion_experienced ? kEcnExperienced
                                                           : kEcnCapable;
  FrameAddresses inner{.source_mac = from.inner_mac,
                       .target_mac = to.inner_mac,
                       .source_ip = from.inner_ip,
                       .target_ip = to.inner_ip,
                       .source_port = packet.source_port,
                       .type_of_service = static_cast<std::uint8_t>(packet.dscp << 2 | ecn)};
  FrameAddresses outer = inner;
  outer.source_mac = from.outer_mac;
  outer.target_mac = to.outer_mac;
  outer.source_ip = from.outer_ip;
  outer.target_ip = to.outer_ip;
  outer.source_port = static_cast<std::uint16_t>(kFirstTunnelPort + packet.flow % kTunnelPorts);
  return vxlan_frame(outer, vxlan_port_, vni_, roce_frame(inner, roce_packet(packet, payload)));
}

}  // namespace bonescan
