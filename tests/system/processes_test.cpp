// Failures that arise are failures like any others: in the record, the report, the score, a replay.
#include "tests/support/bonescan_cli.h"

#include <string>
#include <vector>

namespace bonescan::fakes {
namespace {

using nlohmann::json;

constexpr const char* kDrawn = "scenarios/processes/drawn.yaml";

/// Name, kind, component and beginning of every fault.
json what_broke(const json& report) {
  json rows = json::array();
  for (const json& fault : report["faults"]) {
    rows.push_back({fault["name"], fault["kind"], fault["component"], fault["injected_s"]});
  }
  return rows;
}

TEST(DrawnFailures, AreReportedAndScoredLikeListedOnes) {
  const TemporaryDirectory directory;
  const json report = run_report(kDrawn, directory.file("a"));
  const json& faults = report["faults"];
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(report["detection"]["faults"], 3);
  double before_s = 180.0;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    SCOPED_TRACE(faults[i].dump());
    EXPECT_EQ(faults[i]["name"], "drawn-" + std::to_string(i));
    const double at_s = faults[i]["injected_s"];
    EXPECT_GE(at_s, before_s);
    EXPECT_LT(at_s, 720.0);
    EXPECT_NEAR(faults[i]["ended_s"].get<double>(), at_s + 90.0, 1e-6);
    before_s = at_s;
  }
}

TEST(DrawnFailures, AreAFunctionOfScenarioAndSeed) {
  const TemporaryDirectory directory;
  const json first = run_report(kDrawn, directory.file("a"), {"--seed", "5"});
  const json again =
      run_report(kDrawn, directory.file("b"), {"--seed", "5", "--one-event-per-probe"});
  EXPECT_EQ(again["fingerprint"], first["fingerprint"]);
  EXPECT_EQ(what_broke(again), what_broke(first));
  const json other = run_report(kDrawn, directory.file("c"), {"--seed", "6"});
  EXPECT_NE(what_broke(other), what_broke(first));
}

TEST(DrawnFailures, AreKnownToTheScoreOfAReplay) {
  const TemporaryDirectory directory;
  const json run = run_report(kDrawn, directory.file("a"));
  ASSERT_EQ(bonescan({"replay", directory.file("a"), "--out", directory.file("b")}).exit_code, 0);
  const ChildResult score =
      bonescan({"score", "--truth", directory.file("a"), directory.file("b"), "--json"});
  ASSERT_EQ(score.exit_code, 0) << score.err;
  const json judged = json::parse(score.out);
  EXPECT_EQ(judged["detection"], run["detection"]);
  EXPECT_EQ(what_broke(judged), what_broke(run));
}

TEST(DrawnFailures, NeedAPlaceInTheWorld) {
  const TemporaryDirectory directory;
  const ChildResult result = bonescan({"run",
                                       source_file(kDrawn),
                                       "--out",
                                       directory.file("a"),
                                       "--set",
                                       "failures.kinds=[{kind: no-such-kind}]"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("expected one of crc-error"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace bonescan::fakes
