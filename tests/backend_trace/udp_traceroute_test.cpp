#include "detectors/backend_trace/udp_traceroute.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;

constexpr UdpTracerouteOptions kQuick{.timeout = milliseconds(50)};

OuterFlow loopback(std::uint16_t source_port) {
  return {.source = "127.0.0.1", .target = "127.0.0.1", .source_port = source_port};
}

// Loopback has no router: what comes back, if anything, is "port unreachable".
TEST(UdpTraceroute, ADeliveredOrRefusedPacketIsNoHop) {
  UdpTraceroute prober(kQuick);
  ASSERT_TRUE(prober.begin(loopback(0)));
  for (int i = 0; i < 3; ++i) {
    const auto answer = prober.probe(1);
    ASSERT_TRUE(answer) << answer.error().detail;
    EXPECT_EQ(*answer, "");
  }
}

TEST(UdpTraceroute, SaysWhyItCannotSend) {
  struct Case {
    const char* name;
    OuterFlow flow;
    const char* reason;
  };

  const std::vector<Case> cases = {
      {"no address",
       {.source = "host-1", .target = "127.0.0.1"},
       "'host-1' and '127.0.0.1' are no pair of addresses"},
      {"two families",
       {.source = "127.0.0.1", .target = "::1"},
       "'127.0.0.1' and '::1' are no pair of addresses"},
      {"not here",
       {.source = "192.0.2.1", .target = "192.0.2.2", .source_port = 50'000},
       "cannot send from 192.0.2.1 port 50000: Cannot assign requested address"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    UdpTraceroute prober(kQuick);
    const auto begun = prober.begin(c.flow);
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(begun.error().detail, c.reason);
  }
}

TEST(UdpTraceroute, DoesNotTakeThePortOfAnotherProgram) {
  // One of many ports may be in use already; two sockets never share one.
  for (std::uint16_t port = 50'000; port < 50'010; ++port) {
    UdpTraceroute first(kQuick);
    UdpTraceroute second(kQuick);
    if (first.begin(loopback(port))) {
      const auto begun = second.begin(loopback(port));
      ASSERT_FALSE(begun);
      EXPECT_EQ(begun.error().code, ErrorCode::kUnavailable);
      return;
    }
  }
  FAIL() << "ten ports in use";
}

TEST(UdpTraceroute, AFailedBeginLeavesNothingToProbe) {
  UdpTraceroute prober(kQuick);
  EXPECT_FALSE(prober.probe(1));
  EXPECT_FALSE(prober.begin({.source = "host-1", .target = "127.0.0.1"}));
  EXPECT_FALSE(prober.probe(1));
}

}  // namespace
}  // namespace bonescan
