#include "tools/gates/gate_file.h"

#include "scenarios/schema/key_markdown.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace bonescan {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(std::string(BONESCAN_SOURCE_DIR) + "/" + file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

constexpr const char* kGood = R"(scheme: bonescan
seeds: odd
confidence: 90%
unknown_at_most: 2%
gates:
  - name: recall
    measure: recall_visible
    at_least: 99.3%
  - name: slowest kind
    measure: time_to_detect_mean
    on: each kind
    at_most: 8s
  - name: nothing lost
    measure: recall
    margin: 2%
    unknown_at_most: 0
  - name: no more alarms
    measure: false_alarms_per_fleet_day
    baseline_scheme: paper
    significance: 5%
  - name: losses only
    measure: localization
    on: kind crc-error
    at_least: 0.95
    decided_by: point
)";

TEST(GateFile, ReadsEveryRule) {
  const GateFile file = parse_gate_file(kGood, "gates.yaml");
  EXPECT_EQ(file.seeds, SeedChoice::kOdd);
  EXPECT_EQ(file.options.confidence, 0.9);
  ASSERT_EQ(file.gates.size(), 5U);
  EXPECT_EQ(file.gates[0].rule, GateRule::kAtLeast);
  EXPECT_NEAR(file.gates[0].limit, 0.993, 1e-12);
  EXPECT_EQ(file.gates[0].scheme, "bonescan");
  EXPECT_EQ(file.gates[0].unknown_at_most, 0.02);
  EXPECT_FALSE(file.gates[0].scope.by);
  EXPECT_EQ(file.gates[1].rule, GateRule::kAtMost);
  EXPECT_EQ(file.gates[1].limit, 8.0);
  EXPECT_EQ(file.gates[1].scope.by, StratifyBy::kKind);
  EXPECT_FALSE(file.gates[1].scope.name);
  EXPECT_EQ(file.gates[2].rule, GateRule::kMargin);
  EXPECT_EQ(file.gates[2].baseline_scheme, "bonescan");
  EXPECT_EQ(file.gates[2].unknown_at_most, 0.0);
  EXPECT_EQ(file.gates[3].rule, GateRule::kTest);
  EXPECT_EQ(file.gates[3].baseline_scheme, "paper");
  EXPECT_EQ(file.gates[4].scope.name, "crc-error");
  EXPECT_EQ(file.gates[4].decided_by, DecidedBy::kPoint);
}

/// Each message begins with the place and says what to do.
TEST(GateFile, ComplainsAtTheKeyThatIsWrong) {
  struct Case {
    const char* name;
    const char* gate;  ///< lines of one gate
    const char* place;
    const char* words;
  };
  const std::vector<Case> cases = {
      {"no rule", "measure: recall", "g:2:11: gates[0].name", "expected one of at_least"},
      {"two rules",
       "measure: recall\n    at_least: 1%\n    margin: 1%",
       "g:5:13: gates[0].margin",
       "found at_least and margin"},
      {"rule of a time",
       "measure: recall\n    at_most: 8s",
       "g:4:14: gates[0].at_most",
       "at_least"},
      {"rule of a ratio",
       "measure: time_to_detect_p95\n    at_least: 8s",
       "g:4:15: gates[0].at_least",
       "at_most"},
      {"precision has no baseline",
       "measure: precision\n    margin: 1%",
       "g:4:13: gates[0].margin",
       "one of at_least for precision"},
      {"precision has no kind",
       "measure: precision\n    on: each kind\n    at_least: 1%",
       "g:4:9: gates[0].on",
       "belongs to no kind"},
      {"unknown scope",
       "measure: recall\n    on: each week\n    at_least: 1%",
       "g:4:9: gates[0].on",
       "hint: write it as 'kind crc-error'"},
      {"unknown symptom",
       "measure: recall\n    on: symptom slow\n    at_least: 1%",
       "g:4:9: gates[0].on",
       "unreachable, loss or latency"},
      {"a ratio above one",
       "measure: recall\n    at_least: 110%",
       "g:4:15: gates[0].at_least",
       "a ratio from 0 to 1"},
      {"a time without a unit",
       "measure: time_to_detect_mean\n    at_most: 8",
       "g:4:14: gates[0].at_most",
       "duration"},
      {"baseline without comparison",
       "measure: recall\n    at_least: 1%\n    baseline_scheme: paper",
       "g:5:22: gates[0].baseline_scheme",
       "margin or significance"},
      {"point of a test",
       "measure: recall\n    significance: 5%\n    decided_by: point",
       "g:5:17: gates[0].decided_by",
       "a test has no point"},
      {"misspelt measure",
       "measure: recal\n    at_least: 1%",
       "g:3:14: gates[0].measure",
       "recall"},
      {"unknown key", "measure: recall\n    atleast: 1%", "g:4:5: gates[0].atleast", "at_least"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    try {
      parse_gate_file(std::string("gates:\n  - name: a\n    ") + c.gate + "\n", "g");
      ADD_FAILURE() << "no complaint";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(c.place));
      EXPECT_THAT(error.what(), testing::HasSubstr(c.words));
    }
  }
}

TEST(GateFile, NamesAreUniqueAndSomeGateIsThere) {
  const std::string gate = "  - name: a\n    measure: recall\n    at_least: 1%\n";
  EXPECT_THROW(parse_gate_file("gates:\n" + gate + gate, "g"), ConfigError);
  EXPECT_THROW(parse_gate_file("gates: []\n", "g"), ConfigError);
  EXPECT_THROW(parse_gate_file("scheme: bonescan\n", "g"), ConfigError);
  EXPECT_EQ(parse_gate_file("gates:\n" + gate, "g").gates.size(), 1U);
}

TEST(GateFile, ReadmeHasTheTablesOfTheLoader) {
  const std::string readme = text_of("tools/gates/README.md");
  EXPECT_THAT(readme, testing::HasSubstr(markdown_key_table(gate_schema_keys())));
  EXPECT_THAT(readme, testing::HasSubstr(measure_table_markdown()));
}

TEST(GateFile, ExamplesOfTheRepositoryAreRead) {
  for (const char* file : {"pull-request.yaml", "nightly.yaml"}) {
    SCOPED_TRACE(file);
    const std::string path = std::string("scenarios/campaigns/gates/") + file;
    EXPECT_FALSE(load_gate_file(std::string(BONESCAN_SOURCE_DIR) + "/" + path).gates.empty());
  }
}

}  // namespace
}  // namespace bonescan
