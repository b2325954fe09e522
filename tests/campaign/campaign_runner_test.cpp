#include "tools/campaign/campaign_runner.h"

#include "scenarios/schema/schema_key.h"
#include "tests/support/campaign_fakes.h"
#include "tests/support/temporary_directory.h"
#include "tools/run/run_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Runs what is missing in `file`; what the campaign then holds.
CampaignData run_into(const std::string& file,
                      const CampaignPlan& plan,
                      unsigned threads,
                      const RunMaker& make = fakes::fake_run,
                      const std::function<void(const CampaignProgress&)>& report = {}) {
  {
    auto store = CampaignStore::open(file, fakes::head_of(plan));
    EXPECT_TRUE(store) << store.error().detail;
    ThreadCrew crew(threads,
                    [&](std::size_t task) { return run_task(plan, plan.tasks[task], make); });
    run_campaign(plan, check_plan(plan), missing_tasks(plan, *store), *store, crew, report);
  }
  auto loaded = load_campaign(file);
  EXPECT_TRUE(loaded) << loaded.error().detail;
  return std::move(*loaded);
}

TEST(CampaignRunner, StoresEveryRunOnceWhateverTheNumberOfThreads) {
  const fakes::TemporaryDirectory directory;
  const CampaignPlan plan = fakes::small_plan("seeds: {from: 1, to: 25}");
  const auto one = fakes::lines_of(run_into(directory.file("1"), plan, 1));
  const CampaignData four = run_into(directory.file("4"), plan, 4);
  EXPECT_EQ(fakes::lines_of(four), one);
  // Two cells, 25 seeds, two schemes and a rider.
  ASSERT_THAT(four.runs, SizeIs(2 * 25 * 3));
  EXPECT_THAT(four.faults, SizeIs(2 * four.runs.size()));
  EXPECT_EQ(four.runs[0].scheme, "fewer");
  EXPECT_EQ(four.runs[1].scheme, "ours");
  EXPECT_EQ(four.runs[2].scheme, "theirs");
  // Rows carry the seed of the task, whatever the run said.
  EXPECT_EQ(four.runs[2].seed, 1);
  EXPECT_EQ(four.runs[2].fingerprint, "f-1001theirs");
}

TEST(CampaignRunner, GoesOnWhereItWas) {
  const fakes::TemporaryDirectory directory;
  const std::string file = directory.file("c");
  std::atomic<int> made = 0;
  const RunMaker make = [&](const Scenario& s, const std::string& scheme, auto riders) {
    ++made;
    return fakes::fake_run(s, scheme, riders);
  };
  run_into(file, fakes::small_plan("seeds: {from: 1, to: 4}"), 2, make);
  EXPECT_EQ(made, 16);
  run_into(file, fakes::small_plan("seeds: {from: 1, to: 4}"), 2, make);
  EXPECT_EQ(made, 16);
  const CampaignPlan longer = fakes::small_plan("seeds: {from: 3, to: 6}");
  run_into(file, longer, 2, make);
  EXPECT_EQ(made, 24);
  const CampaignPlan whole = fakes::small_plan("seeds: {from: 1, to: 6}");
  EXPECT_EQ(fakes::lines_of(run_into(file, whole, 1, make)),
            fakes::lines_of(run_into(directory.file("whole"), whole, 1)));
}

TEST(CampaignRunner, StoresARunThatCannotBeMadeWithItsRiders) {
  const fakes::TemporaryDirectory directory;
  const RunMaker make = [](const Scenario& s, const std::string& scheme, auto riders) {
    if (s.seed == 2) {
      throw ConfigError("there is no place for it");
    }
    std::vector<CampaignResult> results = fakes::fake_run(s, scheme, riders);
    if (s.seed == 3) {
      results.resize(1);
      results[0] = {};
      results[0].run.failure = "nor here";
    }
    return results;
  };
  const CampaignData data =
      run_into(directory.file("c"), fakes::small_plan("seeds: {from: 1, to: 3}"), 2, make);
  ASSERT_THAT(data.runs, SizeIs(2 * 3 * 3));
  for (const CampaignRun& run : data.runs) {
    const char* const expected[] = {"", "", "there is no place for it", "nor here"};
    EXPECT_EQ(run.failure, expected[run.seed]) << run.seed << run.scheme;
  }
  EXPECT_THAT(data.faults, SizeIs(2 * 2 * 3));
}

TEST(CampaignRunner, StopsWhenTheWorkThrowsSomethingElse) {
  const fakes::TemporaryDirectory directory;
  const CampaignPlan plan = fakes::small_plan("seeds: {from: 1, to: 50}");
  const RunMaker make = [](const Scenario& s, const std::string& scheme, auto riders) {
    if (s.seed == 20) {
      throw std::runtime_error("out of something");
    }
    return fakes::fake_run(s, scheme, riders);
  };
  EXPECT_THROW(run_into(directory.file("c"), plan, 2, make), std::runtime_error);
  // What was stored before is whole.
  const auto loaded = load_campaign(directory.file("c"));
  ASSERT_TRUE(loaded);
  EXPECT_LT(loaded->runs.size(), 2U * 50U * 3U);
  EXPECT_EQ(fakes::lines_of(run_into(directory.file("c"), plan, 2)),
            fakes::lines_of(run_into(directory.file("whole"), plan, 2)));
}

TEST(CampaignRunner, TellsHowFarItIs) {
  const fakes::TemporaryDirectory directory;
  std::vector<CampaignProgress> heard;
  run_into(directory.file("c"),
           fakes::small_plan("seeds: {from: 1, to: 2}"),
           1,
           fakes::fake_run,
           [&](const CampaignProgress& progress) { heard.push_back(progress); });
  ASSERT_THAT(heard, SizeIs(8));
  EXPECT_EQ(heard[0].done, 1);
  EXPECT_EQ(heard[0].planned, 8);
  EXPECT_NEAR(heard[0].simulated_s, 60.0, 1e-6);
  EXPECT_NEAR(heard[7].simulated_s, 4 * 60.0 + 4 * 120.0, 1e-6);
  EXPECT_EQ(heard[7].planned_s, heard[7].simulated_s);
}

TEST(ThreadCrew, DropsWhatIsNotBegunWhenItGoes) {
  std::atomic<int> begun = 0;
  {
    ThreadCrew crew(1, [&](std::size_t) {
      ++begun;
      return std::vector<CampaignResult>{};
    });
    EXPECT_EQ(crew.idle(), 2);
    crew.assign(0);
    crew.assign(1);
    EXPECT_EQ(crew.idle(), 0);
  }
  EXPECT_LE(begun, 2);
}

}  // namespace
}  // namespace bonescan
