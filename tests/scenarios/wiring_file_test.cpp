#include "scenarios/schema/wiring_file.h"

#include "model/fabric/wiring_fit.h"
#include "tests/support/fabrics.h"

#include <fstream>
#include <string>
#include <vector>

namespace bonescan {
namespace {

const std::string kGolden = std::string(BONESCAN_SOURCE_DIR) + "/tests/golden/topology/";

std::string complaint_about(const std::string& text) {
  try {
    parse_wiring(text, "net.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it was accepted";
}

TEST(WiringFile, ReadsEndsPortsAndRates) {
  const Wiring wiring = load_wiring(kGolden + "two_segments.yaml");
  ASSERT_EQ(wiring.cables.size(), 16u);
  EXPECT_EQ(wiring.cables[1].lower, (WiringEnd{"host-0.00", "rnic-1"}));
  EXPECT_EQ(wiring.cables[1].upper, (WiringEnd{"tor-0.1", "1"}));
  EXPECT_EQ(wiring.cables[1].rate, BitsPerSecond(200'000'000'000));
  EXPECT_EQ(wiring.cables[8].lower, (WiringEnd{"tor-0.0", "3"}));
  EXPECT_EQ(fit_preset(wiring)->rails, 2u);
}

TEST(WiringFile, WritesWhatItReads) {
  for (const auto& [name, options] : test::small_fabrics()) {
    SCOPED_TRACE(name);
    const Wiring wiring = wiring_of(Fabric(options));
    const Wiring again = parse_wiring(wiring_text(wiring), "again.yaml");
    ASSERT_EQ(again.cables.size(), wiring.cables.size());
    for (std::size_t i = 0; i < wiring.cables.size(); ++i) {
      EXPECT_EQ(again.cables[i].lower, wiring.cables[i].lower);
      EXPECT_EQ(again.cables[i].upper, wiring.cables[i].upper);
      EXPECT_EQ(again.cables[i].rate, wiring.cables[i].rate);
    }
  }
}

TEST(WiringFile, IsJsonToo) {
  const Wiring wiring = parse_wiring(
      R"({"links": [{"from": "host-0.00/rnic-0", "to": "tor-0.0", "to_port": "1"}]})", "net.json");
  ASSERT_EQ(wiring.cables.size(), 1u);
  EXPECT_EQ(wiring.cables[0].upper.port, "1");
}

TEST(WiringFile, SaysWhereAndWhatIsWrong) {
  struct Case {
    std::string text;
    std::string complaint;
  };
  const std::vector<Case> cases = {
      {"links: []\n", "net.yaml:1:8: links: expected"},
      {"switches: []\n", "net.yaml:1:1: links: expected"},
      {"links:\n  - {from: a, to: a}\n", "net.yaml:2:5: links[0]: expected two ends"},
      {"links:\n  - {from: a, two: b}\n", "net.yaml:2:15: links[0].two: expected"},
      {"links:\n  - {from: a, to: b, rate: 4}\n", "net.yaml:2:28: links[0].rate: expected"},
      {"switches: [{name: a}, {name: a}]\nlinks: [{from: b, to: a}]\n",
       "net.yaml:1:23: switches[1]: expected one entry per switch"},
      {"switches: [{name: a}]\nlinks: [{from: a, to: b}]\n",
       "net.yaml:2:9: links[0]: expected a switch of the list; found 'b'"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(complaint_about(c.text), testing::StartsWith(c.complaint));
  }
}

constexpr std::string_view kScenario = R"(
name: imported
duration: 10min
fabric: {file: ../tests/golden/topology/two_segments.yaml, convergence: 1s}
jobs: [{gpus: 8, parallelism: {tp: 2, pp: 2, dp: 2}}]
)";

TEST(WiringFile, IsAFabricForScenarios) {
  const std::string file = std::string(BONESCAN_SOURCE_DIR) + "/scenarios/imported.yaml";
  const Scenario scenario = parse_scenario(kScenario, file);
  EXPECT_EQ(scenario.fabric.segments, 2u);
  EXPECT_EQ(scenario.fabric.hosts_per_segment, 2u);
  EXPECT_EQ(scenario.fabric.rails, 2u);
  EXPECT_EQ(scenario.fabric.aggregation_switches, 2u);
  EXPECT_EQ(scenario.fabric.access.rate, BitsPerSecond(200'000'000'000));
  EXPECT_EQ(scenario.fabric.convergence, std::chrono::seconds(1));
  EXPECT_EQ(parse_scenario(scenario.text, "elsewhere.yaml").fabric.rails, 2u)
      << "the text of a run stands alone";
}

TEST(WiringFile, IsAGraphIfAskedTo) {
  std::string text(kScenario);
  text.replace(text.find("two_segments.yaml"), 17, "odd_graph.yaml, preset: graph");
  text.replace(text.find("gpus: 8"), 7, "gpus: 6");
  text.replace(text.find("pp: 2, dp: 2"), 12, "pp: 3, dp: 1");
  text += "faults:\n  - {name: x, kind: crc-error, on: \"link(leaf1, spine-y)\", at: 1min}\n";
  const Scenario scenario =
      parse_scenario(text, std::string(BONESCAN_SOURCE_DIR) + "/scenarios/imported.yaml");
  const Fabric fabric(scenario.fabric);
  EXPECT_EQ(fabric.host_count(), 3u);
  EXPECT_EQ(fabric.switch_count(), 5u);
  EXPECT_EQ(fabric.tor_count(), 3u);
  EXPECT_EQ(fabric.cable_name(scenario.faults[0].on.cable()), "link(leaf1, spine-y)");
  EXPECT_EQ(parse_scenario(scenario.text, "elsewhere.yaml").fabric.graph, scenario.fabric.graph)
      << "the text of a run stands alone";
}

TEST(WiringFile, MustFitAPresetToBeAFabric) {
  std::string text(kScenario);
  text.replace(text.find("two_segments"), 12, "swapped_rails");
  try {
    parse_scenario(text, std::string(BONESCAN_SOURCE_DIR) + "/scenarios/imported.yaml");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("imported.yaml:4:16: fabric.file: expected the "));
    EXPECT_THAT(error.what(), testing::HasSubstr("host-0.01 rnic-0 and rnic-1 are swapped"));
  }
}

}  // namespace
}  // namespace bonescan
