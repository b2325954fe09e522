// Failures that arise are failures like any others: in the record, the report, the score, a replay.
#include "tests/support/bonescan_cli.h"

#include <set>
#include <string>
#include <utility>
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

TEST(EqualStrata, MeetEveryKindInTurn) {
  const TemporaryDirectory directory;
  const json report = run_report("scenarios/processes/one-of-each.yaml", directory.file("a"));
  std::set<std::string> kinds;
  for (const json& fault : report["faults"]) {
    kinds.insert(fault["kind"].get<std::string>());
  }
  EXPECT_EQ(report["faults"].size(), 6u);
  EXPECT_EQ(kinds.size(), 6u);
}

TEST(RecordedFailures, StrikeInTheTimeOfTheTraceAndSurviveAReplay) {
  const TemporaryDirectory directory;
  const json report = run_report("scenarios/processes/trace.yaml", directory.file("a"));
  const json& faults = report["faults"];
  ASSERT_EQ(faults.size(), 4u);
  // A day is five minutes; each begins 3 min after its day.  The third never ended.
  struct Case {
    std::string kind;
    double begin_s;
    double length_s;
  };
  const std::vector<Case> cases = {{"switch-port-down", 180.0, 300.0},
                                   {"switch-port-down", 405.0, 375.0},
                                   {"rnic-hardware-failure", 555.0, 0.0},
                                   {"switch-port-down", 855.0, 75.0}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(faults[i]["kind"], cases[i].kind);
    EXPECT_NEAR(faults[i]["injected_s"].get<double>(), cases[i].begin_s, 1e-6);
    if (cases[i].length_s > 0.0) {
      EXPECT_NEAR(faults[i]["ended_s"].get<double>(), cases[i].begin_s + cases[i].length_s, 1e-6);
    }
  }
  EXPECT_EQ(report["detection"]["false_positives"], 0) << "a GPU and a fan are no failures";
  EXPECT_EQ(bonescan({"replay", directory.file("a"), "--out", directory.file("b")}).exit_code, 0);
  EXPECT_EQ(report_in(directory.file("b"))["incidents"].size(), report["incidents"].size());
}

TEST(FleetOfFailures, IsAFunctionOfTheSeed) {
  const TemporaryDirectory directory;
  const Arguments short_run = {
      "--set", "duration=20min", "--set", "failures.times=3000", "--seed", "3"};
  const json first = run_report("scenarios/processes/fleet.yaml", directory.file("a"), short_run);
  const json again = run_report("scenarios/processes/fleet.yaml", directory.file("b"), short_run);
  EXPECT_GT(first["faults"].size(), 1u);
  EXPECT_EQ(again["fingerprint"], first["fingerprint"]);
  EXPECT_EQ(what_broke(again), what_broke(first));
}

TEST(Confounders, AreNeitherFaultsNorFalseAlarms) {
  const TemporaryDirectory directory;
  const std::vector<std::string> cases = {
      "agent_upgrades: {first: 5min, every: 5min, over: 2min}",
      "times: 300, agent_crashes: {per_host_day: 0.1}",
      "times: 3000, rehashes: {per_switch_day: 0.01}",
      "times: 3000, slow_code: {per_container_day: 0.02}",
      "times: 3000, gpu_faults: {per_gpu_day: 3e-4, silence: 1min}",
      "times: 3000, maintenance: {per_host_month: 0.1, per_cable_month: 0.01, length: 3min}",
  };
  std::size_t planned = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i]);
    const json report =
        run_report(kDrawn,
                   directory.file(std::to_string(i)),
                   {"--set", "failures.count=0", "--set", "confounders={" + cases[i] + "}"});
    EXPECT_EQ(report["detection"]["faults"], 0);
    EXPECT_EQ(report["detection"]["false_positives"], 0) << report["incidents"].dump(1);
    for (const json& incident : report["incidents"]) {
      planned += incident["planned"] == true ? 1 : 0;
    }
  }
  EXPECT_GT(planned, 0u) << "work was seen, and known";
}

}  // namespace
}  // namespace bonescan::fakes
