// What probes and answers look like on the wire, and who sent a datagram.
//
// A probe is answered twice.  The first answer goes out at once; when it has left (T4) is only
// known from its own send completion, so a second answer carries the time that the responder spent,
// T4 - T3.  All three have one fixed layout of 64 bytes in network order, followed by padding up to
// the payload that was asked for:
//
//   0 magic  4 version  5 kind  6 flags  7 probe  8 sequence  16 slot  20 source port
//   22 payload bytes  24 prober  32 responder  40 prober's epoch  48 responder's epoch
//   56 probe: Q_Key of the prober, traffic class, service level; second answer: T4 - T3 in ns
//
// Endpoints are named by a hash of their name, since ids mean something in one process only.
// Parsing trusts nothing: a datagram of a stranger is an ordinary thing.
// @paper R-Pingmesh (two acknowledgements); the layout is ours
#pragma once

#include "detectors/backend_peers/peer_address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bonescan::verbs {

constexpr std::size_t kProbeHeaderSize = 64;
constexpr std::uint8_t kProbeVersion = 1;

enum class PacketKind : std::uint8_t {
  kProbe = 1,
  kFirstAnswer = 2,
  kSecondAnswer = 3,
};

struct ProbePacket {
  PacketKind kind = PacketKind::kProbe;
  bool device_clock = false;  ///< answers: the responder's stamps are its device's
  std::uint8_t probe = 0;     ///< index in its visit
  std::uint64_t sequence = 0;
  std::uint32_t slot = 0;  ///< the prober's, echoed
  std::uint16_t source_port = 0;
  std::uint16_t payload_bytes = kProbeHeaderSize;
  std::uint64_t prober = 0;
  std::uint64_t responder = 0;
  std::uint64_t prober_epoch = 0;
  std::uint64_t responder_epoch = 0;     ///< in a probe: as the prober knows it, 0 if it does not
  std::uint32_t q_key = 0;               ///< probes only
  std::uint8_t traffic_class = 0;        ///< probes only
  std::uint8_t service_level = 0;        ///< probes only
  std::uint64_t responder_delay_ns = 0;  ///< second answers only

  bool operator==(const ProbePacket&) const = default;
};

/// 64-bit FNV-1a of an endpoint's name.
std::uint64_t endpoint_hash(std::string_view name);

/// REQUIRES: out.size() >= kProbeHeaderSize.
void write_packet(const ProbePacket& packet, std::span<std::byte> out);

/// @errors nullopt: too short, or not a packet of this version
std::optional<ProbePacket> parse_packet(std::span<const std::byte> payload);

/// The sender's GID from the 40 bytes before a received datagram: a GRH is an IPv6 header, or an
/// IPv4 header in the last 20 of them.
/// @errors nullopt if it is neither
std::optional<GidBytes> source_of_grh(std::span<const std::byte> grh);

}  // namespace bonescan::verbs
