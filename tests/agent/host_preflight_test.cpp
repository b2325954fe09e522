// What the preflight says of devices, tools and peers.
#include "tools/agent/host_preflight.h"

#include "tests/support/fake_runner.h"
#include "tests/support/temporary_directory.h"
#include "tools/agent/device_preflight.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;
using Devices = std::vector<verbs::DeviceDescription>;

AgentConfig config_of(const std::string& entry, const std::string& more = "") {
  return parse_agent_config(
      "agent: {host: h}\ninventory: [{name: h/r, host: h, device: mlx5_0" + entry + "}]\n" + more,
      "agent.yaml");
}

Devices one_device() {
  verbs::DeviceDescription device;
  device.info.name = "mlx5_0";
  device.info.driver = "mlx5_core";
  device.info.clock.device = true;
  device.info.port_rule = verbs::SourcePortRule::kFlowLabel;
  device.ports = {
      {.port = 1,
       .info = {.active = true, .ethernet = true, .mtu_bytes = 1024},
       .gids = {{.index = 3, .type = verbs::GidType::kRoceV2, .gid = *gid_from_text("10.0.0.1")}}}};
  return {device};
}

std::string text_of(const std::vector<PreflightRow>& rows) {
  std::string text;
  for (const PreflightRow& row : rows) {
    text +=
        fmt::format("{} {}: {}; {}\n", to_string(row.status), row.subject, row.detail, row.hint);
  }
  return text;
}

TEST(DevicePreflight, IsContentWithAWholeDevice) {
  const std::string text = text_of(inspect_devices(config_of(""), one_device()));
  EXPECT_EQ(text,
            "ok device mlx5_0: opened, driver mlx5_core; \n"
            "ok device mlx5_0 timestamps: the device stamps completions; \n"
            "ok device mlx5_0 paths: source ports follow from flow labels; \n"
            "ok mlx5_0 port 1: is active, with an MTU of 1024 bytes; \n"
            "ok h/r GID: index 3, ::ffff:10.0.0.1; \n");
}

TEST(DevicePreflight, SaysWhatIsWrong) {
  struct Case {
    const char* name;
    std::string entry;
    std::function<void(Devices&)> change;
    std::string row;
  };

  const auto nothing = [](Devices&) {};
  const std::vector<Case> cases = {
      {"none", "", [](Devices& d) { d.clear(); }, "missing device mlx5_0: this host has no RDMA"},
      {"another",
       "",
       [](Devices& d) { d[0].info.name = "mlx5_9"; },
       "missing device mlx5_0: this host has no such RDMA device; there are: mlx5_9"},
      {"permission",
       "",
       [](Devices& d) { d[0].error = "Permission denied"; },
       "missing device mlx5_0: Permission denied"},
      {"port", ", port: 2", nothing, "missing mlx5_0 port 2: is not there; the device has 1 ports"},
      {"down",
       "",
       [](Devices& d) { d[0].ports[0].info.active = false; },
       "warn mlx5_0 port 1: is down"},
      {"InfiniBand",
       "",
       [](Devices& d) { d[0].ports[0].info.ethernet = false; },
       "missing mlx5_0 port 1: is InfiniBand"},
      {"small MTU",
       "",
       [](Devices& d) { d[0].ports[0].info.mtu_bytes = 32; },
       "warn mlx5_0 port 1: is active, with an MTU of 32 bytes; probing.payload of 64 bytes"},
      {"GID index", ", gid_index: 7", nothing, "missing h/r GID: "},
      {"GID address", ", gid_address: '10.0.0.2'", nothing, "missing h/r GID: "},
      {"a port that is down may get its GID later",
       ", gid_index: 7",
       [](Devices& d) { d[0].ports[0].info.active = false; },
       "warn h/r GID: "},
      {"no stamps",
       "",
       [](Devices& d) {
         d[0].info.clock.device = false;
         d[0].info.clock_reason = "no completion timestamps";
       },
       "warn device mlx5_0 timestamps: no completion timestamps"},
      {"no flow labels",
       "",
       [](Devices& d) { d[0].info.port_rule = verbs::SourcePortRule::kQueuePairHash; },
       "warn device mlx5_0 paths: source ports follow from queue pairs"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Devices devices = one_device();
    c.change(devices);
    EXPECT_THAT(text_of(inspect_devices(config_of(c.entry), devices)), HasSubstr(c.row));
  }
}

TEST(DevicePreflight, HandsOnWhyThereIsNoRdma) {
  const auto rows = inspect_devices(config_of(""), fail(ErrorCode::kIo, "no RDMA in this kernel"));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].status, PreflightStatus::kMissing);
  EXPECT_EQ(rows[0].detail, "no RDMA in this kernel");
}

TEST(HostPreflight, AsksEveryOpenVSwitch) {
  FakeRunner runner;
  runner.prints("ip netns exec x ovs-appctl -t /run/x.ctl version",
                "ovs-vswitchd (Open vSwitch) 3.1.0\nmore\n");
  runner.prints("ip netns exec x tc -V", "tc utility, iproute2-6.1.0\n");
  const std::string ovs =
      "ovs: [{name: h, control: /run/x.ctl, command_prefix: ' ip netns  exec x ', "
      "offload_table: tc}]\n";
  EXPECT_EQ(text_of(inspect_ovs(config_of("", ovs), runner)),
            "ok Open vSwitch of h: ovs-vswitchd (Open vSwitch) 3.1.0; \n"
            "ok tc of h: tc utility, iproute2-6.1.0; \n");
  EXPECT_THAT(
      text_of(inspect_ovs(config_of("", "ovs: [{name: h}]\n"), runner)),
      HasSubstr("missing Open vSwitch of h: unexpected command: ovs-appctl version; start"));
  EXPECT_EQ(inspect_ovs(config_of(""), runner).front().status, PreflightStatus::kWarn);
}

TEST(HostPreflight, HandsTheConfigurationOn) {
  const std::string ovs =
      "ovs: [{name: h, control: /c, management: /m, database: unix:/d, bridge: br-x, vtep: "
      "10.0.0.9, offload_table: hardware, ports: [{endpoint: h/r, interface: pf0vf3, "
      "openflow_port: 4, mac: '02:00:00:00:00:01', tc_device: eth9}]}]\n";
  const backend_ovs::OvsConfig config = ovs_config_of(config_of("", ovs));
  ASSERT_EQ(config.hosts.size(), 1u);
  const backend_ovs::OvsHost& host = config.hosts[0];
  EXPECT_EQ(host.name, "h");
  EXPECT_EQ(host.control_socket, "/c");
  EXPECT_EQ(host.management_socket, "/m");
  EXPECT_EQ(host.database, "unix:/d");
  EXPECT_EQ(host.integration_bridge, "br-x");
  EXPECT_EQ(host.vtep_address, "10.0.0.9");
  EXPECT_EQ(host.offload_table, backend_ovs::OffloadTable::kHardware);
  ASSERT_EQ(host.ports.size(), 1u);
  EXPECT_EQ(host.ports[0].interface, "pf0vf3");
  EXPECT_EQ(host.ports[0].openflow_port, 4u);
  EXPECT_EQ(host.ports[0].mac, "02:00:00:00:00:01");
  EXPECT_EQ(host.ports[0].tc_device, "eth9");
}

TEST(HostPreflight, TriesEveryPeer) {
  namespace asio = boost::asio;
  asio::io_context context;
  const auto loopback = asio::ip::make_address("127.0.0.1");
  asio::ip::tcp::acceptor there(context, {loopback, 0});
  std::uint16_t nobody = 0;
  {
    asio::ip::tcp::acceptor gone(context, {loopback, 0});
    nobody = gone.local_endpoint().port();
  }
  AgentConfig config = config_of("");
  config.hosts = {{"h", "127.0.0.1:1"},
                  {"up", fmt::format("127.0.0.1:{}", there.local_endpoint().port())},
                  {"down", fmt::format("127.0.0.1:{}", nobody)}};
  const std::string text = text_of(inspect_peers(config, std::chrono::seconds(5)));
  EXPECT_EQ(text,
            fmt::format("warn peer down: nobody listens at 127.0.0.1:{}; start its agent\n"
                        "warn peers: 1 of 2 answer; endpoints of the others are not probed yet\n",
                        nobody));
  config.hosts.pop_back();
  EXPECT_EQ(text_of(inspect_peers(config, std::chrono::seconds(5))), "ok peers: 1 of 1 answer; \n");
  config.hosts.clear();
  EXPECT_TRUE(inspect_peers(config, std::chrono::seconds(5)).empty());
}

TEST(HostPreflight, LooksForCables) {
  EXPECT_EQ(inspect_topology(config_of("")).status, PreflightStatus::kWarn);
  const TemporaryDirectory directory;
  AgentConfig config = config_of("", "topology: {file: cables.yaml}\n");
  config.file = directory.file("agent.yaml");
  std::ofstream(directory.file("cables.yaml")) << "links: [{from: h/r, to: tor}]\n";
  EXPECT_EQ(inspect_topology(config).detail, "1 cables");
  std::ofstream(directory.file("cables.yaml")) << "links: [{from: t, to: u}]\n";
  EXPECT_EQ(inspect_topology(config).detail, "no cable of h/r is known");
}

TEST(HostPreflight, LooksForCounters) {
  const TemporaryDirectory sysfs;
  EXPECT_EQ(inspect_counters(config_of(""), sysfs.file("")).front().status, PreflightStatus::kWarn);
  const std::string folder = sysfs.file("class/infiniband/mlx5_0/ports/1/counters");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/port_xmit_data") << "1234\n";
  EXPECT_EQ(inspect_counters(config_of(""), sysfs.file("")).front().status, PreflightStatus::kOk);
}

TEST(HostPreflight, SaysSomethingOfTheClock) {
  EXPECT_NE(inspect_clock().status, PreflightStatus::kMissing);
}

}  // namespace
}  // namespace bonescan::fakes
