// A recorded run analysed again says the same; exported visits can be read by others and by us.
#include "tests/support/bonescan_cli.h"

#include <sstream>

namespace bonescan::fakes {
namespace {

using nlohmann::json;

/// An incident as the detectors see it: without what only the truth can say.
json as_detected(const json& report) {
  json incidents = report["incidents"];
  for (json& incident : incidents) {
    for (const char* key : {"status", "fault", "merged_into", "late"}) {
      incident.erase(key);
    }
  }
  return incidents;
}

class Replay : public testing::TestWithParam<std::string> {
 protected:
  std::string scenario() const { return "scenarios/smoke/" + GetParam() + ".yaml"; }

  TemporaryDirectory directory_;
};

TEST_P(Replay, GivesTheIncidentsOfTheRun) {
  const json original = run_report(scenario(), directory_.file("run"), {"--seed", "3"});
  const ChildResult result =
      bonescan({"replay", directory_.file("run"), "--out", directory_.file("again"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json again = report_in(directory_.file("again"));
  EXPECT_EQ(json::parse(result.out), again);
  EXPECT_EQ(as_detected(again), as_detected(original));
  EXPECT_FALSE(original["incidents"].empty());
  EXPECT_EQ(again["mode"], "replay");
  EXPECT_EQ(again["truth_available"], false);
  EXPECT_EQ(again["detection"], nullptr) << "nobody told it the truth";
  EXPECT_EQ(again["probes"], original["probes"]);
  EXPECT_EQ(again["skeleton"], original["skeleton"]);
  EXPECT_EQ(again["complete"], true);
}

// The options of the run count, also those that were given on the command line.
TEST_P(Replay, KeepsTheSettingsOfTheRun) {
  const json original =
      run_report(scenario(),
                 directory_.file("run"),
                 {"--set", "detection.incident.close_after=40s", "--set", "seed=9"});
  ASSERT_EQ(
      bonescan({"replay", directory_.file("run"), "--out", directory_.file("again")}).exit_code, 0);
  const json again = report_in(directory_.file("again"));
  EXPECT_EQ(as_detected(again), as_detected(original));
  EXPECT_EQ(again["seed"], 9);
}

TEST_P(Replay, ReadsAnExportedCsv) {
  const json original = run_report(scenario(), directory_.file("run"));
  const std::string csv = directory_.file("visits.csv");
  ASSERT_EQ(bonescan({"export", directory_.file("run"), "--format", "csv", "--out", csv}).exit_code,
            0);
  EXPECT_EQ(bonescan({"export", directory_.file("run")}).out, read_file(csv));
  const ChildResult result = bonescan({"replay", csv, "--out", directory_.file("again")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json again = report_in(directory_.file("again"));
  EXPECT_EQ(again["complete"], true);
  EXPECT_EQ(again["skeleton"]["rnics"], original["skeleton"]["rnics"]);
  EXPECT_GT(again["probes"]["lost"].get<int>() + again["probes"]["sent"].get<int>(), 0);
}

TEST_P(Replay, ExportsEveryProbeAsJsonLines) {
  const json original = run_report(scenario(), directory_.file("run"));
  const ChildResult result = bonescan({"export", directory_.file("run"), "--format", "jsonl"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  std::size_t probes = 0;
  for (std::string line; std::getline(lines, line);) {
    const json visit = json::parse(line, nullptr, false);
    ASSERT_FALSE(visit.is_discarded()) << line;
    ASSERT_EQ(visit["rtt_ns"].size(), visit["sent_after_ns"].size()) << line;
    probes += visit["rtt_ns"].size();
  }
  EXPECT_EQ(original["probes"]["sent"], probes);
}

INSTANTIATE_TEST_SUITE_P(
    ,
    Replay,
    testing::Values("switch-port-down", "crc-error", "overlay-loop", "stale-flow-counters"),
    scenario_test_name);

// What was broken comes from the run whose visits were heard again, and from no other.
TEST(ScoreTruth, JudgesAReplayByWhatItsRunKnew) {
  TemporaryDirectory directory;
  const std::string scenario = "scenarios/smoke/switch-port-down.yaml";
  const json original = run_report(scenario, directory.file("run"));
  run_report(scenario, directory.file("other"), {"--seed", "2"});
  ASSERT_EQ(bonescan({"replay", directory.file("run"), "--out", directory.file("again")}).exit_code,
            0);
  const ChildResult scored =
      bonescan({"score", "--truth", directory.file("run"), directory.file("again"), "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_EQ(json::parse(scored.out)["detection"], original["detection"]);
  const ChildResult wrong =
      bonescan({"score", "--truth", directory.file("other"), directory.file("again")});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("another run"), std::string::npos) << wrong.err;
  const ChildResult unknown =
      bonescan({"score", "--truth", directory.file("again"), directory.file("again")});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("nobody knows"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace bonescan::fakes
