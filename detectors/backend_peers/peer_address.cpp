#include "detectors/backend_peers/peer_address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <utility>

namespace bonescan {

std::string gid_text(const GidBytes& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const char* printed =
      inet_ntop(AF_INET6, gid.data(), text.data(), static_cast<socklen_t>(text.size()));
  return printed == nullptr ? std::string() : std::string(printed);
}

std::optional<GidBytes> gid_from_text(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    return std::nullopt;  // The C functions below would read a shorter text.
  }
  const std::string terminated(text);
  GidBytes gid{};
  if (inet_pton(AF_INET6, terminated.c_str(), gid.data()) == 1) {
    return gid;
  }
  std::array<std::uint8_t, 4> ipv4{};
  if (inet_pton(AF_INET, terminated.c_str(), ipv4.data()) != 1) {
    return std::nullopt;
  }
  gid = {};
  gid[10] = 0xff;
  gid[11] = 0xff;
  std::copy(ipv4.begin(), ipv4.end(), gid.begin() + 12);
  return gid;
}

std::optional<PeerAddress> PeerBook::find(EndpointId endpoint) const {
  const std::lock_guard lock(mutex_);
  const auto found = addresses_.find(endpoint);
  return found == addresses_.end() ? std::nullopt : std::optional(found->second);
}

void PeerBook::set(EndpointId endpoint, PeerAddress address) {
  const std::lock_guard lock(mutex_);
  addresses_[endpoint] = std::move(address);
  ++version_;
}

void PeerBook::erase(EndpointId endpoint) {
  const std::lock_guard lock(mutex_);
  if (addresses_.erase(endpoint) > 0) {
    ++version_;
  }
}

std::uint64_t PeerBook::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace bonescan
