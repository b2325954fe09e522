// Campaigns through the real program: what they store, and what survives a kill.
#include "tests/support/bonescan_cli.h"
#include "tests/support/campaign_contents.h"

#include <gmock/gmock.h>

#include <fstream>
#include <thread>

namespace bonescan::fakes {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kTiny = "scenarios/campaigns/tiny.yaml";

Arguments tiny(const std::string& database, const Arguments& more = {}) {
  Arguments arguments = {"campaign", source_file(kTiny), "--out", database};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CampaignCommand, StoresEveryCellSeedAndScheme) {
  const TemporaryDirectory directory;
  const std::string database = directory.file("new/folder/tiny.sqlite");
  const ChildResult result = bonescan(tiny(database, {"--json"}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json summary = json::parse(result.out);
  EXPECT_EQ(summary["campaign"], "tiny");
  EXPECT_EQ(summary["cells"], 3);
  ASSERT_EQ(summary["schemes"].size(), 3);
  EXPECT_EQ(summary["schemes"][0]["scheme"], "bonescan");
  EXPECT_EQ(summary["schemes"][1]["scheme"], "pingmesh");
  EXPECT_EQ(summary["schemes"][2]["scheme"], "paper");
  for (const json& scheme : summary["schemes"]) {
    EXPECT_EQ(scheme["runs"], 9);
    EXPECT_EQ(scheme["visible"], 9);
    EXPECT_EQ(scheme["false_positives"], 0);
  }
  EXPECT_EQ(summary["schemes"][0]["recall_visible"]["value"], 1.0);
  EXPECT_EQ(stored_runs(database), 27);
  EXPECT_THAT(query_lines(database, "SELECT DISTINCT seed FROM run ORDER BY 1"),
              testing::ElementsAre("|1", "|3", "|5"));
  EXPECT_THAT(query_lines(database, "SELECT value FROM cell_value WHERE key = 'load'"),
              testing::ElementsAre("|none", "|none", "|congested"));
  // Nothing is left beside the database.
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(database).parent_path())) {
    EXPECT_EQ(entry.path().string(), database);
  }
}

TEST(CampaignCommand, StoresTheSameWithAnyNumberOfJobs) {
  const TemporaryDirectory directory;
  for (const char* jobs : {"1", "3"}) {
    const ChildResult result = bonescan(tiny(directory.file(jobs), {"--jobs", jobs}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_EQ(campaign_contents(directory.file("1")), campaign_contents(directory.file("3")));
}

TEST(CampaignCommand, RunsOnlyWhatIsMissing) {
  const TemporaryDirectory directory;
  const std::string database = directory.file("tiny");
  ASSERT_EQ(bonescan(tiny(database)).exit_code, 0);
  const ChildResult again = bonescan(tiny(database));
  EXPECT_THAT(again.err, HasSubstr("18 simulations, 18 of them stored already"));
  const ChildResult more = bonescan(tiny(database, {"--seeds", "1..10"}));
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("30 simulations, 18 of them stored already"));
  const std::string whole = directory.file("whole");
  ASSERT_EQ(bonescan(tiny(whole, {"--seeds", "1..10"})).exit_code, 0);
  EXPECT_EQ(campaign_contents(database), campaign_contents(whole));
  ASSERT_EQ(bonescan(tiny(database, {"--seeds", "1..4", "--parity", "even"})).exit_code, 0);
  EXPECT_EQ(stored_runs(database), 45 + 18);
}

TEST(CampaignCommand, LosesAndDoublesNothingWhenItIsKilled) {
  const TemporaryDirectory directory;
  const Arguments seeds = {"--seeds", "1..119", "--jobs", "2"};
  const std::string whole = directory.file("whole");
  ASSERT_EQ(bonescan(tiny(whole, seeds)).exit_code, 0);
  ASSERT_EQ(stored_runs(whole), 3 * 60 * 3);

  const std::string killed = directory.file("killed");
  std::size_t before = 0;
  int interrupted = 0;
  for (int kills = 0; kills < 3; ++kills) {
    ChildProcess run(bonescan_command(tiny(killed, seeds)));
    while (run.running() && stored_runs(killed) < before + 60) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    run.kill(SIGKILL);
    interrupted += run.wait().signal == SIGKILL ? 1 : 0;
    const std::size_t after = stored_runs(killed);
    EXPECT_GE(after, before + 60);
    // A simulation is there with its rider or not at all.
    EXPECT_EQ(query_lines(killed, "SELECT count(*) FROM run WHERE scheme = 'bonescan'"),
              query_lines(killed, "SELECT count(*) FROM run WHERE scheme = 'pingmesh'"));
    before = after;
  }
  EXPECT_GE(interrupted, 1) << "the campaign ended before it could be killed";
  const ChildResult rest = bonescan(tiny(killed, seeds));
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(campaign_contents(killed), campaign_contents(whole));
}

// Killed while the tables are being made, it leaves a file that can be gone on with.
TEST(CampaignCommand, GoesOnFromAnyEarlyDeath) {
  const TemporaryDirectory directory;
  const std::string whole = directory.file("whole");
  ASSERT_EQ(bonescan(tiny(whole)).exit_code, 0);
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE("killed after " + std::to_string(2 * i) + " ms");
    const std::string database = directory.file(std::to_string(i));
    ChildProcess run(bonescan_command(tiny(database)));
    std::this_thread::sleep_for(std::chrono::milliseconds(2 * i));
    run.kill(SIGKILL);
    run.wait();
    const ChildResult rest = bonescan(tiny(database));
    EXPECT_EQ(rest.exit_code, 0) << rest.err;
    EXPECT_EQ(campaign_contents(database), campaign_contents(whole));
  }
}

TEST(CampaignCommand, RefusesADatabaseOfAnotherCampaign) {
  const TemporaryDirectory directory;
  const std::string database = directory.file("tiny");
  ASSERT_EQ(bonescan(tiny(database)).exit_code, 0);
  std::string text = read_file(source_file(kTiny));
  text.replace(text.find("2%"), 2, "3%");
  text.replace(text.find("2%"), 2, "3%");
  text.replace(text.find("../smoke"), 8, source_file("scenarios/smoke"));
  const std::string changed = directory.file("changed.yaml");
  std::ofstream(changed) << text;
  const ChildResult result = bonescan({"campaign", changed, "--out", database});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("holds another campaign"));
}

TEST(CampaignCommand, TakesEveryCampaignThatComesWithIt) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_file("scenarios/campaigns"))) {
    const ChildResult result = bonescan({"campaign", entry.path().string(), "--dry-run"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(": ok, "));
    ++count;
  }
  EXPECT_GE(count, 3);
}

TEST(CampaignCommand, SaysWhatIsWrongBeforeTheFirstRun) {
  const TemporaryDirectory directory;
  const std::string database = directory.file("none");
  const std::string bad = directory.file("bad.yaml");
  std::ofstream(bad) << "name: bad\nscenario: " << source_file("scenarios/smoke/healthy.yaml")
                     << "\nsweep: [{key: duration, values: [1min, 1parsec]}]\n"
                     << "schemes: [{name: ours}]\n";
  const ChildResult result = bonescan({"campaign", bad, "--out", database});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(result.err.find(bad + ":3:39: sweep[0].values[1]: expected ") != std::string::npos)
      << result.err;
  EXPECT_FALSE(std::filesystem::exists(database));
  EXPECT_EQ(bonescan({"campaign", "no/such.yaml"}).exit_code, 2);
  EXPECT_EQ(bonescan(tiny(database, {"--seeds", "9..1"})).exit_code, 2);
  EXPECT_EQ(bonescan(tiny(database, {"--seeds", "many"})).exit_code, 2);
  EXPECT_EQ(bonescan(tiny(database, {"--parity", "prime"})).exit_code, 2);
  EXPECT_EQ(bonescan(tiny("/proc/none/x")).exit_code, 4);
}

TEST(CampaignCommand, RunsAHoldOutThatATextDraws) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("drawn.yaml");
  std::ofstream(file) << "name: drawn\nscenario: " << source_file("scenarios/smoke/crc-error.yaml")
                      << "\nset: [duration=2min, \"faults[0].at=1min\", \"faults[0].for=30s\"]\n"
                      << "draw:\n  count: 4\n"
                      << "  keys: [{key: \"faults[0].loss\", log-uniform: [1%, 50%]}]\n"
                      << "schemes: [{name: ours}]\n";
  const auto run = [&](const std::string& text, const std::string& database) {
    return bonescan({"campaign", file, "--hold-out", text, "--out", directory.file(database)});
  };
  const ChildResult first = run("c0ffee", "first");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("hold-out 'c0ffee': seeds from "));
  EXPECT_THAT(first.err, HasSubstr("  cell 3: faults[0].loss = "));
  EXPECT_EQ(stored_runs(directory.file("first")), 4);
  ASSERT_EQ(run("c0ffee", "again").exit_code, 0);
  EXPECT_EQ(campaign_contents(directory.file("first")), campaign_contents(directory.file("again")));
  EXPECT_EQ(run("decade", "first").exit_code, 2);
}

}  // namespace
}  // namespace bonescan::fakes
