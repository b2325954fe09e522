#include "model/packet_mode/frames.h"

#include "model/packet_mode/packet.h"
#include "sim/base/check.h"

#include <algorithm>

namespace bonescan {
namespace {

constexpr std::uint16_t kEtherTypeIpv4 = 0x0800;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::uint16_t kDoNotFragment = 0x4000;
constexpr std::uint8_t kBthMigrated = 0x40;
constexpr std::uint32_t kVxlanHasVni = 0x08000000;

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int step = 0; step < 8; ++step) {
      value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0u);
    }
    table[byte] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();
constexpr std::uint32_t kCrcStart = 0xFFFFFFFF;

std::uint32_t crc_step(std::uint32_t crc, std::uint8_t byte) {
  return (crc >> 8) ^ kCrcTable[(crc ^ byte) & 0xFF];
}

/// Appends in network order.
class Writer final {
 public:
  explicit Writer(FrameBytes& out) : out_(&out) {}

  void u8(std::uint8_t value) { out_->push_back(value); }

  void u16(std::uint16_t value) {
    u8(static_cast<std::uint8_t>(value >> 8));
    u8(static_cast<std::uint8_t>(value));
  }

  void u32(std::uint32_t value) {
    u16(static_cast<std::uint16_t>(value >> 16));
    u16(static_cast<std::uint16_t>(value));
  }

  void u64(std::uint64_t value) {
    u32(static_cast<std::uint32_t>(value >> 32));
    u32(static_cast<std::uint32_t>(value));
  }

  void bytes(std::span<const std::uint8_t> values) {
    out_->insert(out_->end(), values.begin(), values.end());
  }

  void zeros(std::size_t count) { out_->insert(out_->end(), count, std::uint8_t{0}); }

 private:
  FrameBytes* out_;
};

/// Ethernet, IPv4 and UDP in front of `udp_payload_bytes` bytes that follow.
void write_headers(FrameBytes& frame,
                   const FrameAddresses& addresses,
                   std::uint16_t target_port,
                   std::uint32_t udp_payload_bytes) {
  Writer out(frame);
  out.bytes(addresses.target_mac);
  out.bytes(addresses.source_mac);
  out.u16(kEtherTypeIpv4);
  const std::size_t ip = frame.size();
  const std::uint32_t udp_bytes = kUdpBytes + udp_payload_bytes;
  out.u8(0x45);  // version 4, five words
  out.u8(addresses.type_of_service);
  out.u16(static_cast<std::uint16_t>(kIpv4Bytes + udp_bytes));
  out.u16(addresses.identification);
  out.u16(kDoNotFragment);
  out.u8(addresses.time_to_live);
  out.u8(kProtocolUdp);
  out.u16(0);
  out.u32(addresses.source_ip);
  out.u32(addresses.target_ip);
  const std::uint16_t checksum = ipv4_checksum(std::span(frame).subspan(ip, kIpv4Bytes));
  frame[ip + 10] = static_cast<std::uint8_t>(checksum >> 8);
  frame[ip + 11] = static_cast<std::uint8_t>(checksum);
  out.u16(addresses.source_port);
  out.u16(target_port);
  out.u16(static_cast<std::uint16_t>(udp_bytes));
  out.u16(0);
}

PacketKind kind_of(const RocePacket& packet) {
  switch (packet.opcode) {
    case RoceOpcode::kRcWriteOnly:
      return PacketKind::kRcWrite;
    case RoceOpcode::kRcAcknowledge:
      return PacketKind::kRcAck;
    case RoceOpcode::kCnp:
      return PacketKind::kCnp;
    case RoceOpcode::kUdSendOnly:
      break;
  }
  return PacketKind::kUdRequest;
}

void write_transport(Writer& out, const RocePacket& packet, std::uint32_t payload_bytes) {
  switch (packet.opcode) {
    case RoceOpcode::kUdSendOnly:
      out.u32(packet.queue_key);
      out.u32(packet.source_qpn & 0xFFFFFF);
      break;
    case RoceOpcode::kRcWriteOnly:
      out.u64(packet.remote_address);
      out.u32(packet.remote_key);
      out.u32(payload_bytes);
      break;
    case RoceOpcode::kRcAcknowledge:
      out.u32(std::uint32_t{packet.syndrome} << 24 | (packet.message_number & 0xFFFFFF));
      break;
    case RoceOpcode::kCnp:
      out.zeros(kCnpReservedBytes);
      break;
  }
}

}  // namespace

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
  std::uint32_t crc = kCrcStart;
  for (const std::uint8_t byte : bytes) {
    crc = crc_step(crc, byte);
  }
  return ~crc;
}

std::uint16_t ipv4_checksum(std::span<const std::uint8_t> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < header.size(); i += 2) {
    sum += static_cast<std::uint32_t>(header[i]) << 8 | header[i + 1];
  }
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::array<std::uint8_t, 4> invariant_crc(std::span<const std::uint8_t> l3) {
  constexpr std::size_t kUdp = kIpv4Bytes;
  constexpr std::size_t kBth = kUdp + kUdpBytes;
  BONESCAN_CHECK(l3.size() >= kBth + kBthBytes);
  // Type of service, time to live, header checksum, UDP checksum, the BTH's FECN and BECN byte.
  constexpr std::array<std::size_t, 7> kMasked = {1, 8, 10, 11, kUdp + 6, kUdp + 7, kBth + 4};
  std::uint32_t crc = kCrcStart;
  for (int i = 0; i < 8; ++i) {
    crc = crc_step(crc, 0xFF);
  }
  auto masked = kMasked.begin();
  for (std::size_t i = 0; i < l3.size(); ++i) {
    const bool hidden = masked != kMasked.end() && *masked == i;
    if (hidden) {
      ++masked;
    }
    crc = crc_step(crc, hidden ? std::uint8_t{0xFF} : l3[i]);
  }
  crc = ~crc;
  return {static_cast<std::uint8_t>(crc),
          static_cast<std::uint8_t>(crc >> 8),
          static_cast<std::uint8_t>(crc >> 16),
          static_cast<std::uint8_t>(crc >> 24)};
}

FrameBytes roce_frame(const FrameAddresses& addresses, const RocePacket& packet) {
  const bool carries =
      packet.opcode != RoceOpcode::kRcAcknowledge && packet.opcode != RoceOpcode::kCnp;
  const auto payload = carries ? packet.payload : std::span<const std::uint8_t>();
  const auto payload_bytes = static_cast<std::uint32_t>(payload.size());
  const std::uint32_t pad = padded(payload_bytes) - payload_bytes;
  const std::uint32_t ib_bytes =
      kBthBytes + transport_bytes(kind_of(packet)) + padded(payload_bytes) + kIcrcBytes;
  FrameBytes frame;
  frame.reserve(kEthernetBytes + kIpv4Bytes + kUdpBytes + ib_bytes);
  write_headers(frame, addresses, kRocePort, ib_bytes);
  Writer out(frame);
  out.u8(static_cast<std::uint8_t>(packet.opcode));
  out.u8(static_cast<std::uint8_t>(kBthMigrated | pad << 4));
  out.u16(packet.partition_key);
  out.u32(packet.target_qpn & 0xFFFFFF);
  out.u32((packet.acknowledge_request ? 0x80000000u : 0u) | (packet.psn & 0xFFFFFF));
  write_transport(out, packet, payload_bytes);
  out.bytes(payload);
  out.zeros(pad);
  out.bytes(invariant_crc(std::span(frame).subspan(kEthernetBytes)));
  return frame;
}

FrameBytes vxlan_frame(const FrameAddresses& outer,
                       std::uint16_t vxlan_port,
                       std::uint32_t vni,
                       std::span<const std::uint8_t> inner) {
  BONESCAN_CHECK(vni < 1u << 24);
  FrameBytes frame;
  frame.reserve(kVxlanOuterBytes + inner.size());
  write_headers(frame, outer, vxlan_port, kVxlanBytes + static_cast<std::uint32_t>(inner.size()));
  Writer out(frame);
  out.u32(kVxlanHasVni);
  out.u32(vni << 8);
  out.bytes(inner);
  return frame;
}

}  // namespace bonescan
