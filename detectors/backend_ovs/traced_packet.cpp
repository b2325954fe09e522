#include "detectors/backend_ovs/traced_packet.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cctype>
#include <cstring>
#include <netinet/in.h>

namespace bonescan::backend_ovs {
namespace {

bool is_ipv6(std::string_view address) {
  return address.find(':') != std::string_view::npos;
}

void append(std::string& text, std::string_view key, std::string_view value) {
  if (!value.empty()) {
    text += fmt::format(",{}={}", key, value);
  }
}

}  // namespace

InnerPacket rewritten(const InnerPacket& packet, const HeaderEdits& edits) {
  InnerPacket result = packet;
  const auto apply = [](std::string& field, const std::string& edit) {
    if (!edit.empty()) {
      field = edit;
    }
  };
  apply(result.eth_source, edits.eth_source);
  apply(result.eth_target, edits.eth_target);
  apply(result.ip_source, edits.ip_source);
  apply(result.ip_target, edits.ip_target);
  return result;
}

std::string flow_text(const InnerPacket& packet, std::uint32_t in_port, const TunnelExit* tunnel) {
  std::string text = fmt::format("in_port={}", in_port);
  if (tunnel != nullptr) {
    const bool outer_ipv6 = is_ipv6(tunnel->target);
    if (tunnel->key) {
      text += fmt::format(",tun_id={}", *tunnel->key);
    }
    append(text, outer_ipv6 ? "tun_ipv6_src" : "tun_src", tunnel->source);
    append(text, outer_ipv6 ? "tun_ipv6_dst" : "tun_dst", tunnel->target);
  }
  const bool inner_ipv6 = is_ipv6(packet.ip_target);
  text += inner_ipv6 ? ",udp6" : ",udp";
  append(text, "dl_src", packet.eth_source);
  append(text, "dl_dst", packet.eth_target);
  append(text, inner_ipv6 ? "ipv6_src" : "nw_src", packet.ip_source);
  append(text, inner_ipv6 ? "ipv6_dst" : "nw_dst", packet.ip_target);
  // Without it a rule that decrements the TTL would drop the packet.
  text += ",nw_ttl=64";
  if (packet.udp_source != 0) {
    text += fmt::format(",udp_src={}", packet.udp_source);
  }
  return text + fmt::format(",udp_dst={}", kRoceUdpPort);
}

Expected<std::string> canonical_ip(std::string_view text) {
  const std::string whole(text);
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, whole.c_str(), &v4) == 1) {
    return whole;
  }
  if (::inet_pton(AF_INET6, whole.c_str(), &v6) != 1) {
    return fail(ErrorCode::kInvalid, fmt::format("'{}' is not an IP address", text));
  }
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    std::memcpy(&v4, &v6.s6_addr[12], sizeof v4);
    return std::string(::inet_ntop(AF_INET, &v4, buffer.data(), buffer.size()));
  }
  return std::string(::inet_ntop(AF_INET6, &v6, buffer.data(), buffer.size()));
}

Expected<std::string> canonical_mac(std::string_view text) {
  constexpr std::size_t kLength = 17;
  std::string mac(text);
  bool valid = mac.size() == kLength;
  for (std::size_t i = 0; valid && i < kLength; ++i) {
    const auto c = static_cast<unsigned char>(mac[i]);
    valid = i % 3 == 2 ? c == ':' : std::isxdigit(c) != 0;
    mac[i] = static_cast<char>(std::tolower(c));
  }
  if (!valid) {
    return fail(ErrorCode::kInvalid, fmt::format("'{}' is not a MAC address", text));
  }
  return mac;
}

}  // namespace bonescan::backend_ovs
