#include "tools/gates/gate_report.h"

#include "tests/support/synthetic_campaign.h"
#include "tools/gates/gate_file.h"
#include "tools/gates/gate_words.h"

#include <sstream>
#include <string>
#include <tinyxml2.h>

namespace bonescan {
namespace {

constexpr const char* kGates = R"(gates:
  - name: recall <b>
    measure: recall
    at_least: 99.3%
  - name: kinds
    measure: recall_visible
    on: each kind
    at_least: 50%
  - name: nothing | lost
    measure: recall
    margin: 2%
)";

GateReport sample() {
  const CampaignData baseline = synthetic_campaign(50, {.runs = 300, .recall = 1.0});
  CampaignData candidate = baseline;
  candidate.name = "nasty & \"quoted\" <name>\x1b[31m";
  for (std::size_t i = 0; i < 12; ++i) {
    lose(candidate.faults[i]);
  }
  candidate.faults[3].component = "link `a` | b";
  CampaignData same = baseline;
  same.faults[3].component = candidate.faults[3].component;
  return judge_campaign(parse_gate_file(kGates, "g"), candidate, &same);
}

TEST(GateReport, JunitIsWellFormedWithATestCaseForEachGate) {
  tinyxml2::XMLDocument document;
  const std::string xml = gate_junit(sample());
  ASSERT_EQ(document.Parse(xml.c_str()), tinyxml2::XML_SUCCESS) << xml;
  const tinyxml2::XMLElement* suite =
      document.FirstChildElement("testsuites")->FirstChildElement("testsuite");
  ASSERT_NE(suite, nullptr);
  EXPECT_EQ(suite->IntAttribute("tests"), 3);
  EXPECT_EQ(suite->IntAttribute("failures"), 2);
  EXPECT_STREQ(suite->Attribute("name"), "bonescan gates: nasty & \"quoted\" <name> [31m");
  const tinyxml2::XMLElement* first = suite->FirstChildElement("testcase");
  EXPECT_STREQ(first->Attribute("name"), "recall <b>");
  EXPECT_STREQ(first->Attribute("classname"), "gates.recall");
  const tinyxml2::XMLElement* failure = first->FirstChildElement("failure");
  ASSERT_NE(failure, nullptr);
  EXPECT_STREQ(failure->Attribute("type"), "failed");
  EXPECT_THAT(failure->Attribute("message"), testing::HasSubstr("96.00 %"));
  EXPECT_THAT(failure->GetText(), testing::HasSubstr("Clopper-Pearson"));
  const tinyxml2::XMLElement* second = first->NextSiblingElement("testcase");
  EXPECT_EQ(second->FirstChildElement("failure"), nullptr);
  EXPECT_NE(second->FirstChildElement("system-out"), nullptr);
}

TEST(GateReport, TableIsNarrowAndNamesTheWorstStratum) {
  const GateReport report = sample();
  std::istringstream lines(gate_table(report));
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, testing::HasSubstr("verdict"));
  for (int i = 0; i < 3; ++i) {
    std::getline(lines, line);
    EXPECT_LE(line.size(), 120U);
  }
  const std::string table = gate_table(report);
  EXPECT_THAT(table, testing::HasSubstr(report.results[1].strata.front().stratum));
  EXPECT_THAT(table, testing::HasSubstr("1 of 3 gates passed, 2 failed, 0 undecided"));
  EXPECT_THAT(table, testing::HasSubstr("12 faults lost against the baseline, 0 gained"));
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
}

TEST(GateReport, MarkdownNamesLostFaultsAndTheirCommands) {
  const std::string markdown = gate_markdown(sample());
  EXPECT_THAT(markdown, testing::StartsWith("## Accuracy gate: red\n"));
  EXPECT_THAT(markdown, testing::HasSubstr("| nothing \\| lost |"));
  EXPECT_THAT(markdown, testing::HasSubstr("recall &lt;b&gt;"));
  EXPECT_THAT(markdown, testing::HasSubstr("link `a` \\| b"));
  EXPECT_THAT(
      markdown,
      testing::HasSubstr("`bonescan campaign synthetic.yaml --seeds 53..53 --out lost-53.sqlite`"));
}

TEST(GateReport, ACommandMakesTheRunOfALostFaultAgain) {
  struct Case {
    const char* command;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"bonescan campaign --jobs 2 a.yaml --seeds 1..500",
       "bonescan campaign a.yaml --seeds 9..9 --out lost-9.sqlite"},
      {"mpirun -np 2 build/release/bonescan campaign --jobs=2 b.yaml --hold-out abc",
       "bonescan campaign b.yaml --hold-out abc --seeds 9..9 --out lost-9.sqlite"},
      // Which seeds a range holds decides which cell a seed belongs to.
      {"bonescan campaign c.yaml --parity odd --out x.sqlite",
       "bonescan campaign c.yaml --parity odd --seeds 9..9 --out lost-9.sqlite"},
      {"by hand", "seed 9 of: by hand"},
  };
  LostFault lost;
  lost.fault.seed = 9;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.command);
    GateReport report;
    report.command = c.command;
    EXPECT_EQ(reproduce_command(report, lost), c.expected);
  }
}

TEST(GateReport, EveryGateSaysWhichIntervalDecides) {
  for (const GateResult& result : sample().results) {
    EXPECT_THAT(result.interval, testing::HasSubstr("one-sided 95 %"));
  }
}

TEST(GateReport, UndecidedSaysHowManyTrialsItTakes) {
  const CampaignData data = synthetic_campaign(1, {.runs = 50, .recall = 1.0});
  const GateReport report = judge_campaign(
      parse_gate_file("gates:\n  - name: a\n    measure: recall\n    at_least: 99.3%\n", "g"),
      data,
      nullptr);
  EXPECT_FALSE(report.is_green());
  EXPECT_THAT(gate_table(report), testing::HasSubstr("about 427 trials at these rates would do"));
  EXPECT_THAT(gate_junit(report), testing::HasSubstr("type=\"undecided\""));
}

}  // namespace
}  // namespace bonescan
