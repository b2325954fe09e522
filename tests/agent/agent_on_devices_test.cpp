// Agents with all that is real but the RNICs: verbs engines, management connections, the clock.
//
// The RNICs are fakes on one fabric in memory.  These tests take seconds of real time.
#include "tests/support/child_process.h"
#include "tests/support/fake_hosts.h"
#include "tests/support/fake_live.h"
#include "tests/support/fake_runner.h"
#include "tests/support/thread_clock.h"
#include "tools/agent/system_sources.h"
#include "tools/evaluate/run_data.h"
#include "tools/run/run_session.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

namespace bonescan::fakes {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

class NoRdma final : public verbs::RdmaSystem {
 public:
  Expected<std::unique_ptr<verbs::Device>> open(std::string_view, std::uint8_t) override {
    return fail(ErrorCode::kIo, "no RDMA");
  }

  Expected<std::vector<verbs::DeviceDescription>> describe() override {
    return fail(ErrorCode::kIo, "this user may not use /dev/infiniband/uverbs0");
  }
};

/// A port that is free at the moment.
std::uint16_t free_port() {
  namespace asio = boost::asio;
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context, {asio::ip::make_address("127.0.0.1"), 0});
  return acceptor.local_endpoint().port();
}

class AgentOnDevices : public testing::Test {
 protected:
  AgentOnDevices() {
    fabric_.latency = Duration::zero();
    std::ofstream(cables_.file("cables.yaml"))
        << "links: [{from: a/rnic-0, to: tor}, {from: b/rnic-0, to: tor}, {from: b/rnic-1, to: "
           "tor}]\n";
    fabric_.add("rnic-a", "10.9.0.1");
    fabric_.add("rnic-b", "10.9.0.2");
    fabric_.add("rnic-c", "10.9.0.3");
  }

  std::string yaml(const std::string& host, const std::string& more = "") const {
    return fmt::format(
        "agent: {{host: {}, metrics: none, management: '127.0.0.1:{}'}}\n"
        "limits: {{cpu: 100%, memory: 4096MiB, disk_free: 1MiB}}\n"
        "detection: {{window: {{length: 1s}}}}\n"
        "probing: {{visit: 100ms, timeout: 50ms, probes_per_visit: 4}}\n"
        "inventory:\n"
        "  - {{name: a/rnic-0, host: a, overlay_ip: 10.9.0.1, device: rnic-a{}}}\n"
        "  - {{name: b/rnic-0, host: b, overlay_ip: 10.9.0.2, device: rnic-b}}\n"
        "  - {{name: b/rnic-1, host: b, overlay_ip: 10.9.0.3, device: rnic-c}}\n"
        "hosts:\n"
        "  - {{name: a, management: '127.0.0.1:{}'}}\n"
        "  - {{name: b, management: '127.0.0.1:{}'}}\n"
        "topology: {{file: {}}}\n",
        host,
        host == "a" ? port_a_ : port_b_,
        more,
        port_a_,
        port_b_,
        cables_.file("cables.yaml"));
  }

  std::string run_directory(const std::string& host) const { return directory_.file(host); }

  RdmaFactory shared() {
    return [this](const verbs::HostClock&) { return std::make_unique<verbs::SharedRdma>(fabric_); };
  }

  /// One agent until its clock is signalled; what it said.
  std::string run(const std::string& text, const std::string& host, ThreadClock& clock) {
    const AgentConfig config = parse_agent_config(text, host + ".yaml");
    const auto system = make_system_sources(shared(), runner_);
    FakeMeter meter{clock};
    std::string log;
    const AgentServices services{
        *system, clock, meter, [&log](std::string_view line) { log += std::string(line) + "\n"; }};
    run_agent(config,
              {.directory = run_directory(host), .command = "test", .duration = std::nullopt},
              services);
    return log;
  }

  std::string refusal(const std::string& text, RdmaFactory rdma) {
    const AgentConfig config = parse_agent_config(text, "a.yaml");
    const auto system = make_system_sources(std::move(rdma), runner_);
    ThreadClock clock(start_);
    FakeMeter meter{clock};
    const AgentServices services{*system, clock, meter, [](std::string_view) {}};
    try {
      run_agent(
          config, {.directory = run_directory("a"), .command = "test", .duration = {}}, services);
    } catch (const EnvironmentError& error) {
      EXPECT_TRUE(std::filesystem::is_empty(directory_.file("")));
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    return "it ran";
  }

  TemporaryDirectory directory_;
  TemporaryDirectory cables_;
  verbs::MonotonicClock start_{verbs::MonotonicClock::now_ns()};
  verbs::FakeFabric fabric_{start_};
  FakeRunner runner_;
  std::uint16_t port_a_ = free_port();
  std::uint16_t port_b_ = free_port();
};

TEST_F(AgentOnDevices, FindEachOtherProbeAndPartInPeace) {
  ThreadClock clock_a(start_);
  ThreadClock clock_b(start_);
  std::string log_a;
  std::string log_b;
  std::thread agent_a([&] { log_a = run(yaml("a"), "a", clock_a); });
  std::thread agent_b([&] { log_b = run(yaml("b"), "b", clock_b); });
  std::this_thread::sleep_for(milliseconds(2500));
  clock_b.signal(Wake::kStop);
  agent_b.join();
  std::this_thread::sleep_for(milliseconds(700));
  clock_a.signal(Wake::kStop);
  agent_a.join();

  EXPECT_THAT(log_a, HasSubstr("a/rnic-0 is ready"));
  EXPECT_THAT(log_a, HasSubstr("b/rnic-0 is ready"));
  EXPECT_THAT(log_a, HasSubstr("agent of b answers"));
  EXPECT_THAT(log_a, HasSubstr("b/rnic-0 stops as planned"));
  for (const char* host : {"a", "b"}) {
    SCOPED_TRACE(host);
    const auto recorded = load_run(run_directory(host));
    ASSERT_TRUE(recorded) << recorded.error().detail;
    EXPECT_TRUE(recorded->result.complete);
    EXPECT_GE(recorded->result.probes_sent, 40u);
    EXPECT_TRUE(recorded->incidents.empty()) << log_a << log_b;
    EXPECT_LE(recorded->result.probes_lost, recorded->result.probes_sent / 20);
    RunSessionOptions options;
    options.directory = directory_.file(std::string("again-") + host);
    EXPECT_EQ(replay_run(run_directory(host) + "/run.sqlite", options).result.fingerprint,
              recorded->result.fingerprint);
  }
}

TEST_F(AgentOnDevices, NameTheLinkThatTwoFailingPairsShare) {
  std::atomic<bool> cut = false;
  fabric_.rule = [&cut](const verbs::FakeDatagram&) { return verbs::FakeFate{.drop = cut}; };
  ThreadClock clock_a(start_);
  ThreadClock clock_b(start_);
  std::string log_a;
  std::thread agent_a([&] { log_a = run(yaml("a"), "a", clock_a); });
  std::thread agent_b([&] { run(yaml("b"), "b", clock_b); });
  std::this_thread::sleep_for(milliseconds(1500));
  cut = true;
  std::this_thread::sleep_for(milliseconds(2000));
  clock_a.signal(Wake::kStop);
  clock_b.signal(Wake::kStop);
  agent_a.join();
  agent_b.join();
  const auto recorded = load_run(run_directory("a"));
  ASSERT_TRUE(recorded) << recorded.error().detail;
  EXPECT_GE(recorded->result.probes_lost, 40u) << recorded->result.probes_local_errors;
  ASSERT_FALSE(recorded->incidents.empty()) << log_a;
  EXPECT_EQ(recorded->incidents.front().layer, Layer::kUnderlay) << log_a;
  const ComponentId named = recorded->incidents.front().candidates.front().component;
  EXPECT_EQ(recorded->components[named].name, "link(a/rnic-0, tor)");
  EXPECT_THAT(log_a, HasSubstr("incident "));
}

TEST_F(AgentOnDevices, RefuseAGidIndexThatIsNotThere) {
  EXPECT_THAT(refusal(yaml("a", ", gid_index: 7"), shared()), HasSubstr("a/rnic-0 GID: "));
}

TEST_F(AgentOnDevices, RefuseADeviceThatIsNotThere) {
  std::string text = yaml("a");
  text.replace(text.find("rnic-a"), 6, "rnic-z");
  EXPECT_EQ(refusal(text, shared()),
            "device rnic-z: this host has no such RDMA device; there are: rnic-a, rnic-b, rnic-c");
}

TEST_F(AgentOnDevices, RefuseToRunWithoutPermission) {
  EXPECT_THAT(
      refusal(yaml("a"), [](const verbs::HostClock&) { return std::make_unique<NoRdma>(); }),
      HasSubstr("RDMA: this user may not use /dev/infiniband/uverbs0; "));
}

TEST_F(AgentOnDevices, RefuseIfADeviceCannotBeOpened) {
  fabric_.rnic("rnic-a").open = {1, Error{ErrorCode::kIo, "no permission to open rnic-a"}};
  EXPECT_THAT(refusal(yaml("a"), shared()), HasSubstr("no permission to open rnic-a"));
}

TEST_F(AgentOnDevices, RefuseAnOpenVSwitchThatDoesNotAnswer) {
  runner_.fails("ovs-appctl -t /run/ovs.ctl version",
                backend_ovs::CommandFailure::kExitStatus,
                "ovs-appctl: cannot connect to /run/ovs.ctl");
  EXPECT_THAT(refusal(yaml("a") + "ovs: [{name: a, control: /run/ovs.ctl}]\n", shared()),
              HasSubstr("Open vSwitch of a: ovs-appctl: cannot connect to /run/ovs.ctl; start"));
}

TEST_F(AgentOnDevices, RefuseAManagementPortThatIsInUse) {
  namespace asio = boost::asio;
  asio::io_context context;
  asio::ip::tcp::acceptor other(context, {asio::ip::make_address("127.0.0.1"), port_a_});
  other.listen();
  EXPECT_THAT(refusal(yaml("a"), shared()),
              HasSubstr(fmt::format("management: cannot listen at 127.0.0.1:{}", port_a_)));
}

}  // namespace
}  // namespace bonescan::fakes
