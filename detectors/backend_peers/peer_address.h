// Where an endpoint can be reached by verbs: what agents tell each other over their management
// connections, and the book in which each agent keeps what it was told.
//
// A rebuilt queue pair has another number, and often the same GID; the epoch grows with every
// rebuild, so that an answer to a probe of an older life is recognized.
#pragma once

#include "detectors/telemetry/endpoint.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// In network order; an IPv4 address is ::ffff:a.b.c.d.
using GidBytes = std::array<std::uint8_t, 16>;

/// "::ffff:10.9.0.3" or "fe80::1", as inet_ntop prints it.
std::string gid_text(const GidBytes& gid);
/// Accepts what gid_text prints, every other form of an IPv6 address, and a plain IPv4 address.
std::optional<GidBytes> gid_from_text(std::string_view text);

struct PeerAddress {
  GidBytes gid{};
  std::vector<std::uint32_t> qpns;  ///< responders, in the order in which sources choose among them
  std::uint32_t q_key = 0;
  std::uint64_t epoch = 0;

  bool operator==(const PeerAddress&) const = default;
};

/// Thread-safe: the rendezvous writes, the probers read.
class PeerBook final {
 public:
  std::optional<PeerAddress> find(EndpointId endpoint) const;
  void set(EndpointId endpoint, PeerAddress address);
  void erase(EndpointId endpoint);
  /// Grows with every change, so that a reader can keep a copy while nothing changes.
  std::uint64_t version() const;

 private:
  mutable std::mutex mutex_;
  std::map<EndpointId, PeerAddress> addresses_;
  std::uint64_t version_ = 0;
};

}  // namespace bonescan
