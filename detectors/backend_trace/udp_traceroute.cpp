#include "detectors/backend_trace/udp_traceroute.h"

#include <fmt/format.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace bonescan {
namespace {

constexpr std::string_view kMagic = "bonescan";
constexpr std::size_t kPacketBytes = kMagic.size() + sizeof(std::uint32_t);
constexpr std::uint8_t kTimeExceeded4 = 11;  // RFC 792
constexpr std::uint8_t kTimeExceeded6 = 3;   // RFC 4443

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }

  bool ipv6() const { return storage.ss_family == AF_INET6; }
};

std::optional<Address> parse(const std::string& text, std::uint16_t port) {
  Address address;
  sockaddr_in ipv4{};
  sockaddr_in6 ipv6{};
  if (inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    std::memcpy(&address.storage, &ipv4, sizeof ipv4);
    address.size = sizeof ipv4;
    return address;
  }
  if (inet_pton(AF_INET6, text.c_str(), &ipv6.sin6_addr) == 1) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    std::memcpy(&address.storage, &ipv6, sizeof ipv6);
    address.size = sizeof ipv6;
    return address;
  }
  return std::nullopt;
}

bool set_option(int socket, int level, int name, int value) {
  return ::setsockopt(socket, level, name, &value, sizeof value) == 0;
}

tl::unexpected<Error> unavailable(std::string_view what) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

/// Text of the address that follows the error in a control message.
std::string offender(const unsigned char* data, std::size_t size, bool ipv6) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto text_size = static_cast<socklen_t>(text.size());
  sockaddr_in from4{};
  sockaddr_in6 from6{};
  if (!ipv6 && size >= sizeof from4) {
    std::memcpy(&from4, data, sizeof from4);
    inet_ntop(AF_INET, &from4.sin_addr, text.data(), text_size);
  } else if (ipv6 && size >= sizeof from6) {
    std::memcpy(&from6, data, sizeof from6);
    inet_ntop(AF_INET6, &from6.sin6_addr, text.data(), text_size);
  }
  return text.data();
}

/// Sender of a time-exceeded; empty for every other error.
std::string time_exceeded_from(msghdr& message, bool ipv6) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    const bool ours = ipv6 ? part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR
                           : part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR;
    sock_extended_err error{};
    if (!ours || part->cmsg_len < CMSG_LEN(sizeof error)) {
      continue;
    }
    std::memcpy(&error, CMSG_DATA(part), sizeof error);
    const bool expired =
        ipv6 ? error.ee_origin == SO_EE_ORIGIN_ICMP6 && error.ee_type == kTimeExceeded6
             : error.ee_origin == SO_EE_ORIGIN_ICMP && error.ee_type == kTimeExceeded4;
    if (expired) {
      return offender(
          CMSG_DATA(part) + sizeof error, part->cmsg_len - CMSG_LEN(sizeof error), ipv6);
    }
  }
  return {};
}

}  // namespace

/// One entry of the error queue.
struct UdpTraceroute::Report {
  std::string from;  ///< empty: not a time-exceeded
  std::optional<std::uint32_t> number;
};

namespace {

/// @returns whether there was an entry
template <class Report>
bool read_report(int socket, bool ipv6, Report& report) {
  std::array<char, kPacketBytes> quoted{};
  alignas(cmsghdr) std::array<char, 512> control{};
  iovec data{quoted.data(), quoted.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
  if (size < 0) {
    return false;
  }
  report.from = time_exceeded_from(message, ipv6);
  report.number.reset();
  const std::string_view text(quoted.data(), quoted.size());
  if (static_cast<std::size_t>(size) >= kPacketBytes && text.substr(0, kMagic.size()) == kMagic) {
    std::uint32_t number = 0;
    std::memcpy(&number, quoted.data() + kMagic.size(), sizeof number);
    report.number = number;
  }
  return true;
}

}  // namespace

UdpTraceroute::UdpTraceroute(const UdpTracerouteOptions& options) : options_(options) {}

UdpTraceroute::~UdpTraceroute() {
  UdpTraceroute::end();
}

void UdpTraceroute::end() {
  if (socket_ >= 0) {
    ::close(socket_);
    socket_ = -1;
  }
}

Expected<void> UdpTraceroute::begin(const OuterFlow& flow) {
  end();
  const std::optional<Address> source = parse(flow.source, flow.source_port);
  const std::optional<Address> target = parse(flow.target, flow.target_port);
  if (!source || !target || source->ipv6() != target->ipv6()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("'{}' and '{}' are no pair of addresses", flow.source, flow.target));
  }
  flow_ = flow;
  ipv6_ = source->ipv6();
  late_possible_ = false;
  socket_ =
      ::socket(source->storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP);
  if (socket_ < 0) {
    return unavailable("no UDP socket");
  }
  const int traffic_class = flow.dscp << 2;
  const bool set = ipv6_ ? set_option(socket_, IPPROTO_IPV6, IPV6_RECVERR, 1) &&
                               set_option(socket_, IPPROTO_IPV6, IPV6_TCLASS, traffic_class)
                         : set_option(socket_, IPPROTO_IP, IP_RECVERR, 1) &&
                               set_option(socket_, IPPROTO_IP, IP_TOS, traffic_class);
  if (!set) {
    return unavailable("cannot read ICMP errors");
  }
  // No SO_REUSEADDR: whoever holds the port would lose packets to this socket.
  if (::bind(socket_, source->get(), source->size) != 0) {
    return unavailable(fmt::format("cannot send from {} port {}", flow.source, flow.source_port));
  }
  return {};
}

/// Forgets errors that nobody waits for any more; the next send would fail with them.
void UdpTraceroute::drain() const {
  constexpr int kLongestQueue = 1000;
  Report ignored;
  for (int i = 0; i < kLongestQueue && read_report(socket_, ipv6_, ignored); ++i) {
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
}

Expected<std::string> UdpTraceroute::probe(std::uint8_t ttl) {
  if (socket_ < 0) {
    return fail(ErrorCode::kUnavailable, "no flow is being traced");
  }
  drain();
  const bool limited = ipv6_ ? set_option(socket_, IPPROTO_IPV6, IPV6_UNICAST_HOPS, ttl)
                             : set_option(socket_, IPPROTO_IP, IP_TTL, ttl);
  if (!limited) {
    return unavailable("cannot limit the TTL");
  }
  const std::optional<Address> target = parse(flow_.target, flow_.target_port);
  if (!target) {
    return fail(ErrorCode::kUnavailable, fmt::format("'{}' is no address", flow_.target));
  }
  const std::uint32_t number = ++sent_;
  std::array<char, kPacketBytes> packet{};
  std::copy(kMagic.begin(), kMagic.end(), packet.begin());
  std::memcpy(packet.data() + kMagic.size(), &number, sizeof number);
  // Never connected: the kernel gives every connected socket a hash of its own, at random, and may
  // choose among several ways by it instead of by the five-tuple.
  if (::sendto(socket_, packet.data(), packet.size(), MSG_NOSIGNAL, target->get(), target->size) <
      0) {
    return unavailable(fmt::format("cannot send to {}", flow_.target));
  }
  Expected<std::string> answer = wait_for(number);
  late_possible_ = late_possible_ || !answer || answer->empty();
  return answer;
}

Expected<std::string> UdpTraceroute::wait_for(std::uint32_t number) const {
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + options_.timeout;
  while (true) {
    Report report;
    while (read_report(socket_, ipv6_, report)) {
      const bool mine = report.number ? *report.number == number : !late_possible_;
      if (mine && !report.from.empty()) {
        return std::move(report.from);
      }
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now()).count();
    if (left <= 0) {
      return std::string();
    }
    // A pending error would make poll() return at once for ever.
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    pollfd wanted{socket_, 0, 0};
    ::poll(&wanted, 1, static_cast<int>(left));
  }
}

}  // namespace bonescan
