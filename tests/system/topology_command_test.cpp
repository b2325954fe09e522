// `bonescan topology` as an operator calls it: wiring as planned is 0, findings are 1 and named.
#include "tests/support/bonescan_cli.h"

#include <fstream>

namespace bonescan::fakes {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kPlanned = source_file("tests/golden/topology/two_segments.yaml");
const std::string kSwapped = source_file("tests/golden/topology/swapped_rails.yaml");
const std::string kHpn = source_file("scenarios/smoke/hpn.yaml");

TEST(TopologyCommand, IsContentWithWhatIsPlanned) {
  const ChildResult same = bonescan({"topology", kPlanned, "--blueprint", kPlanned});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("as planned: 16 cables, 16 planned"));
  const TemporaryDirectory directory;
  const ChildResult blueprint = bonescan({"topology", "--export", "--blueprint", kHpn});
  ASSERT_EQ(blueprint.exit_code, 0) << blueprint.err;
  std::ofstream(directory.file("hpn.yaml")) << blueprint.out;
  const ChildResult round = bonescan({"topology", directory.file("hpn.yaml"), "--blueprint", kHpn});
  EXPECT_EQ(round.exit_code, 0) << round.out << round.err;
}

TEST(TopologyCommand, NamesSwapsAndSlowCables) {
  const ChildResult result = bonescan({"topology", kSwapped, "--blueprint", kPlanned, "--json"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const json report = json::parse(result.out);
  ASSERT_EQ(report["findings"].size(), 2u) << result.out;
  EXPECT_EQ(report["findings"][0]["fault"], "swapped");
  EXPECT_EQ(report["findings"][0]["ends"], (json{"host-0.01 rnic-0", "host-0.01 rnic-1"}));
  EXPECT_EQ(report["findings"][1]["fault"], "rate");
}

/// What a ToR's neighbours say, under the names that the site gave them.
TEST(TopologyCommand, ReadsNeighbourListsWithOtherNames) {
  const TemporaryDirectory directory;
  std::string planned = "links:\n";
  for (int port = 1; port <= 8; ++port) {
    planned += "  - {from: host-1.0" + std::to_string(port - 1) +
               "/mlx5_3, to: tor-1.3, to_port: swp" + std::to_string(port) + "}\n";
  }
  std::ofstream(directory.file("planned.yaml")) << planned;
  std::ofstream lldp(directory.file("leaf-a07.lldp"));
  for (const int port : {1, 2, 3, 4, 5, 6, 8, 7}) {
    const int host = port >= 7 ? 14 - port : port - 1;
    lldp << "lldp.swp" << port << ".via=LLDP\nlldp.swp" << port << ".chassis.name=host-1.0" << host
         << "\nlldp.swp" << port << ".port.descr=mlx5_3\n";
  }
  lldp.close();
  std::ofstream(directory.file("names.yaml")) << "names: [{is: leaf-a07, as: tor-1.3}]\n";
  const ChildResult result = bonescan({"topology",
                                       directory.file("leaf-a07.lldp"),
                                       "--format",
                                       "lldp",
                                       "--names",
                                       directory.file("names.yaml"),
                                       "--blueprint",
                                       directory.file("planned.yaml")});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(result.out.substr(0, result.out.find('\n')),
            "swapped: tor-1.3 swp7 and swp8 are swapped: host-1.06 mlx5_3 should be in the first "
            "and host-1.07 mlx5_3 in the second");
}

TEST(TopologyCommand, ChecksHostTypes) {
  const TemporaryDirectory directory;
  std::ofstream(directory.file("host.xml"))
      << "<system><cpu numaid=\"0\"><pci busid=\"1\"><gpu dev=\"0\"/><nic>"
         "<net name=\"mlx5_0\" speed=\"100000\" guid=\"0x1\"/></nic></pci></cpu></system>";
  const ChildResult result =
      bonescan({"topology", directory.file("host.xml"), "--format", "nccl", "--blueprint", kHpn});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 RNICs where the blueprint has 8"));
  EXPECT_THAT(result.out, HasSubstr("RNIC 0x1 has 1 ports where the blueprint has 2"));
  EXPECT_THAT(result.out, HasSubstr("mlx5_0 runs at 100 Gb/s where the blueprint has 200"));
}

TEST(TopologyCommand, SaysWhatItDoesNotUnderstand) {
  const ChildResult missing = bonescan({"topology", "no/such", "--blueprint", kPlanned});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("expected a readable file"));
  const ChildResult wrong =
      bonescan({"topology", kPlanned, "--format", "ibnetdiscover", "--blueprint", kPlanned});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("two_segments.yaml:2: expected Switch"));
  EXPECT_EQ(bonescan({"topology", "--blueprint", kPlanned}).exit_code, 2);
}

}  // namespace
}  // namespace bonescan::fakes
