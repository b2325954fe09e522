// kill -9 at any moment leaves the valid log of a shorter run.
#include "tests/support/killed_run.h"

#include "tests/support/stored_windows.h"

namespace bonescan::fakes {
namespace {

using nlohmann::json;

Arguments long_run(const std::string& directory) {
  return bonescan_command({"run",
                           source_file("scenarios/smoke/switch-port-down.yaml"),
                           "--set",
                           "duration=3000min",
                           "--out",
                           directory});
}

TEST(KilledRun, IsScoredAsFarAsItGot) {
  const TemporaryDirectory directory;
  const std::string out = directory.file("run");
  ChildProcess run(long_run(out));
  const int windows = kill_after(run, out, 20);
  ASSERT_EQ(run.wait().signal, SIGKILL);
  ASSERT_GE(windows, 20);
  expect_no_half_written_file(out);

  const json report = score_killed_run(out);
  EXPECT_GE(report["simulated_s"].get<double>(), 30.0 * windows);
  EXPECT_LT(report["simulated_s"].get<double>(), 3000.0 * 60.0);
  EXPECT_EQ(report["detection"]["undecided"], 0);
  EXPECT_EQ(report["detection"]["true_positives"], 1);
  EXPECT_EQ(report["localization"]["correct"], 1);
  EXPECT_GT(report["probes"]["sent"].get<int>(), 0);
  expect_report_can_be_made(out, report);

  EXPECT_EQ(bonescan({"explain", out}).exit_code, 0);
  EXPECT_EQ(bonescan({"compare", out, out}).exit_code, 0);
  const ChildResult again = bonescan({"replay", out, "--out", directory.file("again"), "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(report_in(directory.file("again"))["incidents"][0]["id"], report["incidents"][0]["id"]);
}

// An early death leaves nothing yet, or a log without a window; either is said, neither is a bug.
TEST(KilledRun, IsValidOrRefusedWheneverItWasKilled) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE("killed after " + std::to_string(3 * i) + " ms");
    const std::string out = directory.file(std::to_string(i));
    ChildProcess run(long_run(out));
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * i));
    run.kill(SIGKILL);
    ASSERT_EQ(run.wait().signal, SIGKILL);
    const ChildResult scored = bonescan({"score", out, "--json"});
    if (scored.exit_code == 0) {
      EXPECT_EQ(json::parse(scored.out)["complete"], false);
      expect_no_half_written_file(out);
    } else {
      EXPECT_EQ(scored.exit_code, 2) << scored.err;
      EXPECT_EQ(scored.out, "");
      EXPECT_THAT(scored.err, testing::StartsWith("bonescan: " + out));
    }
  }
}

}  // namespace
}  // namespace bonescan::fakes
