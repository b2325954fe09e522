#include "tools/topology/host_type.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace bonescan {
namespace {

/// A host of `rails` GPUs, each with an RNIC of `ports` ports below its PCI switch, and a frontend.
std::string host_xml(unsigned rails, unsigned ports, unsigned megabits) {
  std::string text = "<system version=\"1\">\n";
  for (unsigned r = 0; r < rails; ++r) {
    text += fmt::format(
        "  <cpu numaid=\"{}\"><pci busid=\"0000:{:02x}:00.0\">\n"
        "    <pci busid=\"0000:{:02x}:00.0\"><gpu dev=\"{}\" sm=\"90\"/></pci>\n"
        "    <pci busid=\"0000:{:02x}:00.0\"><nic>\n",
        r / 4,
        16 * r + 1,
        16 * r + 2,
        rails - 1 - r,
        16 * r + 3);
    for (unsigned p = 0; p < ports; ++p) {
      text += fmt::format(
          "      <net name=\"mlx5_{}\" dev=\"{}\" speed=\"{}\" port=\"{}\" guid=\"0x{}1\"/>\n",
          r * ports + p,
          r * ports + p,
          megabits,
          p + 1,
          r + 1);
    }
    text += "    </nic></pci></pci></cpu>\n";
  }
  return text +
         "  <cpu numaid=\"-1\"><nic><net name=\"eth0\" dev=\"9\" speed=\"10000\" guid=\"0x0\"/>"
         "</nic></cpu>\n</system>\n";
}

Fabric fabric_of(FabricPreset preset) {
  FabricOptions options = preset_options(preset);
  options.segments = 2;
  options.hosts_per_segment = 2;
  return Fabric(options);
}

TEST(HostType, ReadsGpusAndRnicsInOrder) {
  const auto host = parse_nccl_topology(host_xml(8, 2, 200'000), "host.xml");
  ASSERT_TRUE(host) << host.error().detail;
  ASSERT_EQ(host->gpus.size(), 8u);
  for (std::uint32_t g = 0; g < 8; ++g) {
    EXPECT_EQ(host->gpus[g].device, g);
  }
  ASSERT_EQ(host->ports.size(), 16u) << "the frontend's eth0 is no RNIC";
  EXPECT_EQ(host->ports[3].name, "mlx5_3");
  EXPECT_EQ(host->ports[3].rate, BitsPerSecond(200'000'000'000));
}

TEST(HostType, FitsItsPreset) {
  struct Case {
    std::string name;
    FabricPreset preset;
    std::string xml;
    std::vector<std::string> findings;
  };
  const std::vector<Case> cases = {
      {"one port", FabricPreset::kRailOptimized, host_xml(8, 1, 400'000), {}},
      {"two ports", FabricPreset::kHpn, host_xml(8, 2, 200'000), {}},
      {"half a host",
       FabricPreset::kRailOptimized,
       host_xml(4, 1, 400'000),
       {"4 RNICs where the blueprint has 8", "4 GPUs where the blueprint has 8"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto host = parse_nccl_topology(c.xml, "host.xml");
    ASSERT_TRUE(host);
    EXPECT_EQ(check_host_type(*host, fabric_of(c.preset)), c.findings);
  }
  const auto slow = parse_nccl_topology(host_xml(8, 1, 200'000), "host.xml");
  const auto findings = check_host_type(*slow, fabric_of(FabricPreset::kRailOptimized));
  ASSERT_EQ(findings.size(), 8u);
  EXPECT_EQ(findings[0], "mlx5_0 runs at 200 Gb/s where the blueprint has 400");
}

TEST(HostType, NamesAGpuWithoutAnRnicNearby) {
  std::string text = host_xml(8, 1, 400'000);
  const std::string first =
      "<cpu numaid=\"0\"><pci busid=\"0000:01:00.0\">\n"
      "    <pci busid=\"0000:02:00.0\"><gpu dev=\"7\" sm=\"90\"/></pci>\n";
  const std::size_t at = text.find(first);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, first.size(), "<cpu numaid=\"0\"><pci busid=\"0000:01:00.0\">\n");
  text.replace(text.find("<system version=\"1\">"),
               20,
               "<system version=\"1\"><cpu numaid=\"1\"><pci busid=\"0000:f0:00.0\">"
               "<gpu dev=\"7\"/></pci></cpu>");
  const auto host = parse_nccl_topology(text, "host.xml");
  ASSERT_TRUE(host) << host.error().detail;
  EXPECT_EQ(
      check_host_type(*host, fabric_of(FabricPreset::kRailOptimized)),
      (std::vector<std::string>{"gpu 7 (pci 0000:f0:00.0) shares no PCI switch with an RNIC"}));
}

TEST(HostType, SaysWhatItDoesNotUnderstand) {
  struct Case {
    std::string text;
    std::string detail;
  };
  const std::vector<Case> cases = {
      {"", "host.xml:"},
      {"<system>\n<cpu>\n</system>", "host.xml:2: expected XML"},
      {"<host/>", "host.xml:1: expected <system>"},
      {"<system>\n<gpu/></system>", "host.xml:2: expected a gpu with a number as dev"},
      {"<system>\n\n<net name=\"a\" guid=\"0x1\"/></system>", "host.xml:3: expected a net with"},
      {"<system><net name=\"a\" guid=\"0x1\" speed=\"-5\"/></system>", "expected a speed in Mb/s"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const auto host = parse_nccl_topology(c.text, "host.xml");
    ASSERT_FALSE(host);
    EXPECT_THAT(host.error().detail, testing::HasSubstr(c.detail));
  }
}

TEST(HostType, SurvivesDeepNestingAndMutation) {
  std::string deep = "<system>";
  for (int i = 0; i < 100'000; ++i) {
    deep += "<pci busid=\"1\">";
  }
  EXPECT_FALSE(parse_nccl_topology(deep, "x"));
  const std::string text = host_xml(1, 1, 400'000);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'<', '>', '"', '&', '\0'}) {
      std::string mutated = text;
      mutated[i] = c;
      const auto host = parse_nccl_topology(mutated, "x");
      EXPECT_TRUE(!host || host->gpus.size() <= 1);
    }
  }
}

}  // namespace
}  // namespace bonescan
