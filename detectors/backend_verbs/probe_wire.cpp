#include "detectors/backend_verbs/probe_wire.h"

#include "sim/base/check.h"

#include <algorithm>
#include <array>

namespace bonescan::verbs {
namespace {

constexpr std::uint32_t kMagic = 0x424E5350;  // "BNSP"
constexpr std::uint8_t kDeviceClockFlag = 1;
constexpr std::size_t kGrhBytes = 40;
constexpr std::size_t kIpv4Offset = 20;

template <class Integer>
void put(std::span<std::byte> out, std::size_t offset, Integer value) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    const std::size_t shift = 8 * (sizeof(Integer) - 1 - i);
    out[offset + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> shift);
  }
}

template <class Integer>
Integer get(std::span<const std::byte> in, std::size_t offset) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    value = value << 8 | std::to_integer<std::uint64_t>(in[offset + i]);
  }
  return static_cast<Integer>(value);
}

std::uint8_t byte_at(std::span<const std::byte> in, std::size_t offset) {
  return std::to_integer<std::uint8_t>(in[offset]);
}

/// RFC 1071: the sum over a header with a right checksum is all ones.
bool has_valid_checksum(std::span<const std::byte> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < header.size(); i += 2) {
    sum += get<std::uint16_t>(header, i);
  }
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return sum == 0xFFFF;
}

}  // namespace

std::uint64_t endpoint_hash(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  }
  return hash;
}

void write_packet(const ProbePacket& packet, std::span<std::byte> out) {
  BONESCAN_CHECK(out.size() >= kProbeHeaderSize);
  put(out, 0, kMagic);
  put(out, 4, kProbeVersion);
  put(out, 5, static_cast<std::uint8_t>(packet.kind));
  put(out, 6, packet.device_clock ? kDeviceClockFlag : std::uint8_t{0});
  put(out, 7, packet.probe);
  put(out, 8, packet.sequence);
  put(out, 16, packet.slot);
  put(out, 20, packet.source_port);
  put(out, 22, packet.payload_bytes);
  put(out, 24, packet.prober);
  put(out, 32, packet.responder);
  put(out, 40, packet.prober_epoch);
  put(out, 48, packet.responder_epoch);
  put(out, 56, std::uint64_t{0});
  if (packet.kind == PacketKind::kProbe) {
    put(out, 56, packet.q_key);
    put(out, 60, packet.traffic_class);
    put(out, 61, packet.service_level);
  } else if (packet.kind == PacketKind::kSecondAnswer) {
    put(out, 56, packet.responder_delay_ns);
  }
}

std::optional<ProbePacket> parse_packet(std::span<const std::byte> payload) {
  if (payload.size() < kProbeHeaderSize || get<std::uint32_t>(payload, 0) != kMagic ||
      byte_at(payload, 4) != kProbeVersion) {
    return std::nullopt;
  }
  const std::uint8_t kind = byte_at(payload, 5);
  const std::uint8_t flags = byte_at(payload, 6);
  if (kind < static_cast<std::uint8_t>(PacketKind::kProbe) ||
      kind > static_cast<std::uint8_t>(PacketKind::kSecondAnswer) || flags > kDeviceClockFlag) {
    return std::nullopt;
  }
  ProbePacket packet;
  packet.kind = static_cast<PacketKind>(kind);
  packet.device_clock = flags == kDeviceClockFlag;
  packet.probe = byte_at(payload, 7);
  packet.sequence = get<std::uint64_t>(payload, 8);
  packet.slot = get<std::uint32_t>(payload, 16);
  packet.source_port = get<std::uint16_t>(payload, 20);
  packet.payload_bytes = get<std::uint16_t>(payload, 22);
  packet.prober = get<std::uint64_t>(payload, 24);
  packet.responder = get<std::uint64_t>(payload, 32);
  packet.prober_epoch = get<std::uint64_t>(payload, 40);
  packet.responder_epoch = get<std::uint64_t>(payload, 48);
  if (packet.kind == PacketKind::kProbe) {
    packet.q_key = get<std::uint32_t>(payload, 56);
    packet.traffic_class = byte_at(payload, 60);
    packet.service_level = byte_at(payload, 61);
  } else if (packet.kind == PacketKind::kSecondAnswer) {
    packet.responder_delay_ns = get<std::uint64_t>(payload, 56);
  }
  if (packet.payload_bytes < kProbeHeaderSize || packet.service_level > 15) {
    return std::nullopt;
  }
  return packet;
}

std::optional<GidBytes> source_of_grh(std::span<const std::byte> grh) {
  if (grh.size() < kGrhBytes) {
    return std::nullopt;
  }
  const auto ipv4 = grh.subspan(kIpv4Offset, 20);
  const bool looks_ipv4 = byte_at(ipv4, 0) == 0x45;
  const bool looks_ipv6 = byte_at(grh, 0) >> 4 == 6;
  GidBytes gid{};
  // The bytes before an IPv4 header are undefined, so "6" there proves nothing against a header
  // whose checksum is right; adapters that verify checksums themselves may leave it out.
  if (looks_ipv4 && (!looks_ipv6 || has_valid_checksum(ipv4))) {
    gid[10] = 0xFF;
    gid[11] = 0xFF;
    for (std::size_t i = 0; i < 4; ++i) {
      gid[12 + i] = byte_at(ipv4, 12 + i);
    }
    return gid;
  }
  if (!looks_ipv6) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < gid.size(); ++i) {
    gid[i] = byte_at(grh, 8 + i);
  }
  return gid;
}

}  // namespace bonescan::verbs
