// Real routers of the kernel in network namespaces: the path that is traced must be the path that
// the flow's packets take.  Needs root.
#include "detectors/backend_trace/topology_paths.h"
#include "detectors/backend_trace/udp_traceroute.h"
#include "tests/support/child_process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fcntl.h>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;

constexpr int kPackets = 20;

fakes::ChildResult run(std::vector<std::string> command) {
  fakes::ChildProcess child(command);
  return child.wait();
}

class EcmpLab : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "needs root";
    }
    const fakes::ChildResult made = run({script_, "up", prefix_});
    if (made.exit_code == 77) {
      GTEST_SKIP() << "no network namespaces with ECMP here: " << made.err;
    }
    ASSERT_EQ(made.exit_code, 0) << made.err;
    made_ = true;
    home_ = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    enter(open(("/run/netns/" + prefix_ + "-h1").c_str(), O_RDONLY | O_CLOEXEC));
    wait_for_routers();
  }

  void TearDown() override {
    if (made_) {
      enter(home_);
      run({script_, "down", prefix_});
    }
  }

  bool ipv6() const { return GetParam() == "IPv6"; }

  OuterFlow flow(std::uint16_t port) const {
    return {.source = ipv6() ? "fd77:1::1" : "10.77.1.1",
            .target = ipv6() ? "fd77:6::2" : "10.77.6.2",
            .source_port = port};
  }

  EndpointDirectory endpoints() const {
    EndpointDirectory directory;
    for (const char* name : {"h1", "h2"}) {
      Endpoint endpoint;
      endpoint.name = name;
      endpoint.local = endpoint.name == "h1";
      endpoint.underlay_ip = endpoint.local ? flow(0).source : flow(0).target;
      directory.push_back(endpoint);
    }
    return directory;
  }

  static TopologyDraft fabric() {
    return {.symmetric_hashing = true,  // not so, but the answers are not looked at
            .switches = {{"r1", true, {"10.77.1.2", "fd77:1::2"}},
                         {"ra", true, {"10.77.2.2", "fd77:2::2"}},
                         {"rb", true, {"10.77.3.2", "fd77:3::2"}},
                         {"r2", true, {"10.77.4.2", "10.77.5.2", "fd77:4::2", "fd77:5::2"}}},
            .cables = {{"h1", "r1", ""},
                       {"r1", "ra", ""},
                       {"r1", "rb", ""},
                       {"r2", "ra", ""},
                       {"r2", "rb", ""},
                       {"h2", "r2", ""}}};
  }

  /// Neighbours have to find each other first, on both ways.
  void wait_for_routers() const {
    UdpTraceroute prober({.timeout = milliseconds(200)});
    for (std::uint16_t port = 40'000; port < 40'016; ++port) {
      ASSERT_TRUE(prober.begin(flow(port)));
      for (std::uint8_t ttl = 1; ttl <= 3; ++ttl) {
        bool answered = false;
        for (int attempt = 0; attempt < 50 && !answered; ++attempt) {
          answered = !prober.probe(ttl).value().empty();
        }
        ASSERT_TRUE(answered) << "port " << port << " TTL " << int{ttl};
      }
    }
  }

  int packets_from_r1(const std::string& router) const {
    const fakes::ChildResult read = run({"/usr/bin/env",
                                         "ip",
                                         "netns",
                                         "exec",
                                         prefix_ + "-" + router,
                                         "cat",
                                         "/sys/class/net/to-r1/statistics/rx_packets"});
    EXPECT_EQ(read.exit_code, 0) << read.err;
    return std::atoi(read.out.c_str());
  }

 private:
  void enter(int name_space) const {
    ASSERT_GE(name_space, 0);
    ASSERT_EQ(setns(name_space, CLONE_NEWNET), 0);
    close(name_space);
  }

  const std::string script_ =
      std::string(BONESCAN_SOURCE_DIR) + "/tests/backend_trace/lab/fabric.sh";
  const std::string prefix_ = fmt::format("bonescan{}", getpid());
  bool made_ = false;
  int home_ = -1;
};

TEST_P(EcmpLab, TracesTheRouterThatCarriesTheFlow) {
  const EndpointDirectory directory = endpoints();
  ComponentTable components;
  TopologyPaths paths(
      Topology(fabric(), directory),
      directory,
      components,
      std::make_unique<FlowTracer>(std::make_unique<UdpTraceroute>(UdpTracerouteOptions{}),
                                   FlowTracerOptions{.spacing = milliseconds(1)}),
      roce_outer_flow(directory));
  UdpTraceroute sender({.timeout = milliseconds(1)});
  std::set<std::string> seen;
  for (std::uint16_t port = 50'000; port < 50'016; ++port) {
    SCOPED_TRACE(port);
    auto path = paths.trace({EndpointId(0), EndpointId(1), port}, kStartOfRun);
    while (!path && path.error().code == ErrorCode::kPending) {
      std::this_thread::sleep_for(milliseconds(1));
      path = paths.trace({EndpointId(0), EndpointId(1), port}, kStartOfRun);
    }
    ASSERT_TRUE(path) << path.error().detail;
    ASSERT_EQ(path->request.size(), 4U);
    const std::string link = components[path->request[1].link].name;
    const std::string carrier = link == "link(r1, ra)" ? "ra" : "rb";
    const std::string other = carrier == "ra" ? "rb" : "ra";
    seen.insert(carrier);

    const int carried_before = packets_from_r1(carrier);
    const int other_before = packets_from_r1(other);
    ASSERT_TRUE(sender.begin(flow(port)));
    for (int i = 0; i < kPackets; ++i) {
      ASSERT_TRUE(sender.probe(64));
    }
    EXPECT_GE(packets_from_r1(carrier) - carried_before, kPackets);
    EXPECT_LT(packets_from_r1(other) - other_before, kPackets / 2);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"ra", "rb"})) << "16 flows on one of two ways";
}

TEST_P(EcmpLab, AnswersOfOthersThanRoutersAreNoHops) {
  UdpTraceroute prober({.timeout = milliseconds(300)});
  ASSERT_TRUE(prober.begin(flow(51'000)));
  EXPECT_EQ(prober.probe(1).value(), ipv6() ? "fd77:1::2" : "10.77.1.2");
  EXPECT_EQ(prober.probe(64).value(), "") << "port unreachable";
  EXPECT_EQ(prober.probe(1).value(), ipv6() ? "fd77:1::2" : "10.77.1.2");
}

INSTANTIATE_TEST_SUITE_P(Families,
                         EcmpLab,
                         testing::Values("IPv4", "IPv6"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace bonescan
