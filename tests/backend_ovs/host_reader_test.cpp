// A host's own files, in the forms that the kernel prints them.
#include "detectors/backend_ovs/host_reader.h"

#include "detectors/backend_ovs/parse/host_files.h"
#include "tests/support/temporary_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace bonescan::backend_ovs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kBond =
    "Ethernet Channel Bonding Driver: v6.6.102\n\n"
    "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\n"
    "MII Status: up\n\n"
    "802.3ad info\nActive Aggregator Info:\n\tAggregator ID: 1\n\tNumber of ports: 1\n\n"
    "Slave Interface: reth0\nMII Status: up\nSpeed: 400000 Mbps\nAggregator ID: 1\n\n"
    "Slave Interface: reth1\nMII Status: down\nSpeed: Unknown\nAggregator ID: 2\n";

TEST(HostFiles, ReadsTheMembersOfABond) {
  const auto bond = parse_bonding(kBond);
  ASSERT_TRUE(bond) << bond.error().detail;
  EXPECT_THAT(*bond, ElementsAre(BondMember{"reth0", true}, BondMember{"reth1", false}));
}

// Two aggregators are two half-bonds: the second one's link is up and carries nothing.
TEST(HostFiles, AMemberOfAnotherAggregatorCarriesNothing) {
  std::string text = kBond;
  text.replace(text.find("MII Status: down"), 16, "MII Status: up");
  const auto bond = parse_bonding(text);
  ASSERT_TRUE(bond);
  EXPECT_FALSE((*bond)[1].up);
}

TEST(HostFiles, RefusesWhatIsNoBond) {
  for (const char* text : {"", "MII Status: up\n", "Slave Interface:\nMII Status: up\n"}) {
    EXPECT_FALSE(parse_bonding(text)) << text;
  }
}

TEST(HostFiles, ReadsStatesAndRates) {
  EXPECT_EQ(parse_port_state("4: ACTIVE\n"), "ACTIVE");
  EXPECT_EQ(parse_port_state("1: DOWN"), "DOWN");
  EXPECT_EQ(parse_port_rate("400 Gb/sec (4X NDR)\n"), BitsPerSecond(400'000'000'000));
  EXPECT_EQ(parse_port_rate("2.5 Gb/sec (1X SDR)"), BitsPerSecond(2'500'000'000));
  EXPECT_EQ(parse_pcie_speed("32.0 GT/s PCIe\n"), 32.0);
  EXPECT_EQ(parse_pcie_speed("8 GT/s"), 8.0);
  EXPECT_EQ(parse_hugepage_folder("hugepages-2048kB"), 2'097'152u);
  for (const char* odd : {"",
                          "ACTIVE",
                          "4 ACTIVE",
                          "4:",
                          "Unknown",
                          "-1 Gb/sec",
                          "nan GT/s",
                          "hugepages-kB",
                          "hugepages-0kB",
                          "400 Gb/s"}) {
    SCOPED_TRACE(odd);
    EXPECT_FALSE(parse_port_state(odd));
    EXPECT_FALSE(parse_port_rate(odd));
    EXPECT_FALSE(parse_pcie_speed(odd));
    EXPECT_FALSE(parse_hugepage_folder(odd));
  }
}

/// A root with the files of one RNIC in it.
class HostReaderTest : public testing::Test {
 protected:
  static constexpr const char* kPort = "/sys/class/infiniband/mlx5_0/ports/1/";

  HostReaderTest() {
    for (const char* host : {"h1", "h2"}) {
      Endpoint endpoint;
      endpoint.name = std::string(host) + "/rnic-0";
      endpoint.host = host;
      endpoints_.push_back(endpoint);
    }
    const std::string port = kPort;
    write(port + "state", "4: ACTIVE\n");
    write(port + "rate", "200 Gb/sec (4X HDR)\n");
    gid(0, "fe80:0000:0000:0000:0ac0:ebff:feda:0001", "IB/RoCE v1");
    gid(1, "fe80:0000:0000:0000:0ac0:ebff:feda:0001", "RoCE v2");
    gid(2, "0000:0000:0000:0000:0000:0000:0000:0000", "");
    gid(3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2");
    write(port + "gid_attrs/ndevs/0", "bond0\n");
    count(1'000);
    const std::string device = "/sys/class/infiniband/mlx5_0/device/";
    write(device + "current_link_width", "8\n");
    write(device + "max_link_width", "16\n");
    write(device + "current_link_speed", "16.0 GT/s PCIe\n");
    write(device + "max_link_speed", "32.0 GT/s PCIe\n");
    write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1024\n");
    write("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "512\n");
    write("/proc/net/bonding/bond0", kBond);
  }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  void gid(int index, const std::string& value, const std::string& type) {
    write(kPort + ("gids/" + std::to_string(index)), value + "\n");
    write(kPort + ("gid_attrs/types/" + std::to_string(index)), type + "\n");
  }

  void count(std::uint64_t words) {
    const std::string counters = std::string(kPort) + "counters/";
    write(counters + "port_xmit_data", std::to_string(words) + "\n");
    write(counters + "port_rcv_data", std::to_string(2 * words) + "\n");
  }

  std::string root() const { return directory_.file("root"); }

  HostReader reader() {
    return HostReader({{EndpointId(0), "mlx5_0", 1}},
                      endpoints_,
                      components_,
                      {.root = root(), .hugepages_expected = 2'048});
  }

  static Time at(int seconds) { return kStartOfRun + std::chrono::seconds(seconds); }

  fakes::TemporaryDirectory directory_;
  EndpointDirectory endpoints_;
  ComponentTable components_;
};

TEST_F(HostReaderTest, ReadsEverything) {
  HostReader host = reader();
  const auto report = host.inspect(EndpointId(0), at(0));
  ASSERT_TRUE(report) << report.error().detail;
  ASSERT_TRUE(report->gids.has_value());
  ASSERT_THAT(*report->gids, SizeIs(3));
  EXPECT_EQ((*report->gids)[0].type, "RoCE v1");
  EXPECT_EQ((*report->gids)[2], (GidRow{3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2"}));
  EXPECT_THAT(report->hugepages, ElementsAre(HugepagePool{2'097'152, 1'024, 512, 2'048}));
  EXPECT_THAT(report->bond, ElementsAre(BondMember{"reth0", true}, BondMember{"reth1", false}));
  EXPECT_EQ(report->pcie, (PcieLink{8, 16, 16.0, 32.0}));
  EXPECT_EQ(report->port->state, "ACTIVE");
  EXPECT_EQ(report->port->speed, BitsPerSecond(200'000'000'000));
  EXPECT_EQ(components_[report->host].name, "h1");
}

TEST_F(HostReaderTest, TakesNothingForZero) {
  HostReader host = reader();
  std::filesystem::remove_all(root() + "/proc");
  std::filesystem::remove_all(root() + "/sys/kernel");
  std::filesystem::remove_all(root() + "/sys/class/infiniband/mlx5_0/device");
  std::filesystem::remove_all(root() + kPort + "gids");
  write(std::string(kPort) + "counters/port_xmit_data", "nonsense\n");
  const auto report = host.inspect(EndpointId(0), at(0));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->gids.has_value());
  EXPECT_FALSE(report->pcie.has_value());
  EXPECT_THAT(report->hugepages, IsEmpty());
  EXPECT_THAT(report->bond, IsEmpty());
  EXPECT_THAT(report->counts, IsEmpty());
}

TEST_F(HostReaderTest, CountsOnceReadingsAreFarEnoughApart) {
  HostReader host = reader();
  for (const auto& [second, words] : {std::pair(0, 1'000), std::pair(30, 1'100)}) {
    count(static_cast<std::uint64_t>(words));
    const auto report = host.inspect(EndpointId(0), at(second));
    ASSERT_TRUE(report);
    EXPECT_THAT(report->counts, IsEmpty());
  }
  count(1'200);
  const auto report = host.inspect(EndpointId(0), at(60));
  ASSERT_TRUE(report);
  EXPECT_THAT(report->counts,
              ElementsAre(RdmaCount{at(0), 4'000, 8'000}, RdmaCount{at(60), 4'800, 9'600}));
}

TEST_F(HostReaderTest, SaysUnavailableOfOthersAndOfWhatIsGone) {
  HostReader host = reader();
  EXPECT_FALSE(host.inspect(EndpointId(1), at(0)));
  EXPECT_FALSE(host.inspect(EndpointId(), at(0)));
  std::filesystem::remove_all(root() + "/sys/class/infiniband");
  EXPECT_FALSE(host.inspect(EndpointId(0), at(0)));
}

}  // namespace
}  // namespace bonescan::backend_ovs
