// The quickstart, as its document promises it: every fault found, nearly all placed, no false
// alarm.
#include "tests/support/bonescan_cli.h"
#include "tests/support/killed_run.h"
#include "tests/support/stored_windows.h"

namespace bonescan::fakes {
namespace {

using nlohmann::json;

constexpr const char* kQuickstart = "scenarios/quickstart.yaml";

/// True if that stage looked at the incident and found nothing wrong.
bool clear_in(const json& incident, const std::string& stage) {
  const json& evidence = incident["evidence"];
  return std::any_of(evidence.begin(), evidence.end(), [&](const json& line) {
    return line["stage"] == stage && line["clear"] == true;
  });
}

json run_quickstart(const std::string& directory, const Arguments& more) {
  Arguments arguments = {"run", source_file(kQuickstart), "--out", directory, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ChildResult result = bonescan(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::printf("quickstart: %.2f s of CPU time, %.2f s of wall time\n", result.cpu_s, result.wall_s);
  json report = json::parse(result.out, nullptr, false);
  EXPECT_EQ(report, report_in(directory));
  return report;
}

void expect_promises_kept(const json& report) {
  const json& detection = report["detection"];
  EXPECT_EQ(detection["faults"], 6);
  EXPECT_EQ(detection["true_positives"], 6);
  EXPECT_EQ(detection["false_positives"], 0);
  // A bug: with seed 1 a pair that was held while the flapping port's incident opened alone became
  // a second incident about the same link.
  EXPECT_EQ(detection["duplicates"], 0);
  EXPECT_GE(report["localization"]["correct"].get<int>(), 5);
  bool stale_seen = false;
  for (const json& incident : report["incidents"]) {
    if (incident["fault"] != "stale counters" || incident["status"] != "matched") {
      continue;
    }
    stale_seen = true;
    EXPECT_EQ(incident["layer"], "rnic");
    EXPECT_EQ(incident["component"]["name"], "host-3.11/rnic-6");
    EXPECT_TRUE(clear_in(incident, "overlay-walk")) << incident["evidence"].dump(1);
    EXPECT_TRUE(clear_in(incident, "underlay-vote")) << incident["evidence"].dump(1);
    EXPECT_FALSE(clear_in(incident, "flow-table-diff"));
  }
  EXPECT_TRUE(stale_seen);
}

class Quickstart : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(Quickstart, KeepsItsPromisesOnSeedOneWithAnyNumberOfThreads) {
  const json report = run_quickstart(directory_.file("a"), {"--seed", "1", "--threads", "1"});
  expect_promises_kept(report);
  const json again = run_quickstart(directory_.file("b"), {"--seed", "1"});
  const json threads = run_quickstart(directory_.file("c"), {"--seed", "1", "--threads", "2"});
  EXPECT_EQ(again["fingerprint"], report["fingerprint"]);
  EXPECT_EQ(threads["fingerprint"], report["fingerprint"]);
  EXPECT_EQ(again["incidents"], report["incidents"]);
  EXPECT_EQ(threads["incidents"], report["incidents"]);
}

TEST_F(Quickstart, KeepsItsPromisesOnSeedThree) {
  expect_promises_kept(run_quickstart(directory_.file("run"), {"--seed", "3"}));
}

TEST_F(Quickstart, IsTheSameRunWithOneEventPerProbe) {
  // Faults that begin after the end are refused, so they move to the front.
  const Arguments shorter = {
      "--set", "duration=6min",      "--set", "faults[0].at=2min",  "--set", "faults[0].for=1min",
      "--set", "faults[1].at=2min",  "--set", "faults[1].for=30s",  "--set", "faults[2].at=3min",
      "--set", "faults[3].at=150s",  "--set", "faults[3].for=2min", "--set", "faults[4].at=4min",
      "--set", "faults[4].for=1min", "--set", "faults[5].at=270s",  "--set", "faults[5].for=1min"};
  const json report = run_report(kQuickstart, directory_.file("batch"), shorter);
  Arguments every_probe = shorter;
  every_probe.emplace_back("--one-event-per-probe");
  const json reference = run_report(kQuickstart, directory_.file("events"), every_probe);
  EXPECT_GE(report["detection"]["true_positives"].get<int>(), 3);
  EXPECT_EQ(reference["fingerprint"], report["fingerprint"]);
  EXPECT_EQ(reference["incidents"], report["incidents"]);
}

TEST_F(Quickstart, GivesTheSameIncidentsWhenReplayed) {
  const json report = run_quickstart(directory_.file("run"), {});
  const ChildResult result =
      bonescan({"replay", directory_.file("run"), "--out", directory_.file("again")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json again = report_in(directory_.file("again"));
  ASSERT_EQ(again["incidents"].size(), report["incidents"].size());
  for (std::size_t i = 0; i < again["incidents"].size(); ++i) {
    for (const char* key : {"id", "opened_s", "closed_s", "candidates", "pairs", "evidence"}) {
      EXPECT_EQ(again["incidents"][i][key], report["incidents"][i][key]) << i << " " << key;
    }
  }
}

// The whole length, half of it, is for tools/acceptance.sh: it takes a minute.
TEST_F(Quickstart, IsScoredWhenKilled) {
  const std::string out = directory_.file("run");
  ChildProcess run(bonescan_command(
      {"run", source_file(kQuickstart), "--set", "duration=300min", "--out", out}));
  const int windows = kill_after(run, out, 30);
  ASSERT_EQ(run.wait().signal, SIGKILL);
  ASSERT_GE(windows, 30);
  expect_no_half_written_file(out);
  const json report = score_killed_run(out);
  // CRC errors, the dead port and the flapping port were over or found by then.
  EXPECT_GE(report["detection"]["true_positives"].get<int>(), 3);
  EXPECT_EQ(report["detection"]["false_negatives"], 0);
  EXPECT_EQ(report["detection"]["false_positives"], 0);
  expect_report_can_be_made(out, report);
}

}  // namespace
}  // namespace bonescan::fakes
