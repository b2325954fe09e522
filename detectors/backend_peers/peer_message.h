// What agents say to each other on a management connection.
//
// One message is one line of JSON, so that a capture or `nc` shows what goes on.  A connection
// serves the side that opened it: the listener announces its endpoints and answers keep-alives, the
// dialer learns and asks.  Two agents therefore hold two connections, and neither depends on the
// other.
//
//   {"type":"hello","version":1,"host":"host-0.01","agent_epoch":1790000000}
//   {"type":"endpoints","endpoints":[{"name":"host-0.01/rnic-0","state":"ready","epoch":3,
//    "gid":"::ffff:10.9.0.1","qpns":[17,18],"q_key":286331153}]}
//   {"type":"ping","id":7}   {"type":"pong","id":7}
//   {"type":"goodbye","reason":"stopping"}
//
// An entry of `endpoints` replaces what was said of that endpoint before; endpoints that are not
// mentioned are as they were.  Unknown fields and unknown types of message are ignored, so that a
// newer agent can say more.
// Invariant: decoding accepts any bytes and never throws; what it returns is within the limits
// here.
#pragma once

#include "detectors/backend_peers/peer_address.h"
#include "sim/base/error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bonescan {

constexpr std::uint32_t kPeerProtocolVersion = 1;
constexpr std::size_t kMaxPeerLineBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxPeerNameBytes = 200;
constexpr std::size_t kMaxNoticesPerMessage = 32;  ///< the encoder splits, the decoder refuses
constexpr std::size_t kMaxQpnsPerEndpoint = 64;

enum class PeerState : std::uint8_t {
  kStarting,  ///< exists, does not answer yet
  kReady,     ///< answers probes at its address
  kStopping,  ///< a planned stop
  kGone,      ///< the container is deleted
};

std::string_view to_string(PeerState state);

/// All there is to know about one endpoint.
struct EndpointNotice {
  std::string name;
  PeerState state = PeerState::kStarting;
  PeerAddress address;  ///< set while kReady; otherwise only its epoch is

  bool operator==(const EndpointNotice&) const = default;
};

struct HelloMessage {
  std::uint32_t version = kPeerProtocolVersion;
  std::string host;
  std::uint64_t agent_epoch = 0;  ///< another number for every start of the agent

  bool operator==(const HelloMessage&) const = default;
};

struct EndpointsMessage {
  std::vector<EndpointNotice> endpoints;

  bool operator==(const EndpointsMessage&) const = default;
};

struct PingMessage {
  std::uint64_t id = 0;

  bool operator==(const PingMessage&) const = default;
};

struct PongMessage {
  std::uint64_t id = 0;

  bool operator==(const PongMessage&) const = default;
};

/// Why the speaker closes the connection: silence after it is not a death.
enum class GoodbyeReason : std::uint8_t {
  kStopping,  ///< planned end of the agent
  kRefused,   ///< does not talk to this peer: version, host, too many, not understood
};

struct GoodbyeMessage {
  GoodbyeReason reason = GoodbyeReason::kStopping;

  bool operator==(const GoodbyeMessage&) const = default;
};

/// A type that this version does not know.
struct UnknownMessage {
  bool operator==(const UnknownMessage&) const = default;
};

using PeerMessage = std::variant<UnknownMessage,
                                 HelloMessage,
                                 EndpointsMessage,
                                 PingMessage,
                                 PongMessage,
                                 GoodbyeMessage>;

/// One line with its line feed.  REQUIRES: at most kMaxNoticesPerMessage endpoints.
std::string encode_peer_message(const PeerMessage& message);

/// As many lines as the notices need.
std::string encode_notices(std::span<const EndpointNotice> notices);

/// A line without its line feed.
/// @errors kInvalid
Expected<PeerMessage> decode_peer_message(std::string_view line);

}  // namespace bonescan
