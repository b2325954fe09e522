// TTL-limited UDP packets, whose deaths the kernel reports on the socket's error queue.
//
// No raw socket and no privilege is needed: the packets come from an ordinary UDP socket that is
// bound to the flow's source port, and IP_RECVERR hands over the ICMP time-exceeded with the
// address of its sender.  Every packet carries a number; a late answer to an earlier packet is told
// apart by it where the router quotes enough, and is dropped where it does not.
//
// The IPv6 packets carry the kernel's flow label, not the RNIC's: switches that hash flow labels
// may send them another way.  Needs Linux.  Thread-compatible.
#pragma once

#include "detectors/backend_trace/flow_tracer.h"
#include "sim/base/units.h"

#include <cstdint>
#include <memory>

namespace bonescan {

struct UdpTracerouteOptions {
  Duration timeout = std::chrono::milliseconds(500);  ///< for the answer to one packet
};

class UdpTraceroute final : public HopProber {
 public:
  explicit UdpTraceroute(const UdpTracerouteOptions& options);
  ~UdpTraceroute() override;
  UdpTraceroute(const UdpTraceroute&) = delete;
  UdpTraceroute& operator=(const UdpTraceroute&) = delete;

  Expected<void> begin(const OuterFlow& flow) override;
  Expected<std::string> probe(std::uint8_t ttl) override;
  void end() override;

 private:
  struct Report;

  void drain() const;
  Expected<std::string> wait_for(std::uint32_t number) const;

  UdpTracerouteOptions options_;
  OuterFlow flow_;
  int socket_ = -1;
  bool ipv6_ = false;
  std::uint32_t sent_ = 0;
  bool late_possible_ = false;  ///< an earlier packet of this flow is still unanswered
};

}  // namespace bonescan
