#include "tools/campaign/campaign_plan.h"

#include "scenarios/schema/schema_key.h"
#include "tests/support/campaign_fakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kHead = "name: x\nscenario: ../smoke/healthy.yaml\nschemes: [{name: ours}]\n";
const std::string kTwoSweeps =
    "sweep:\n"
    "  - {key: duration, values: [1min, 2min]}\n"
    "  - {name: size, values: [{name: s}, {name: m}, {name: l}]}\n";

CampaignPlan plan_of(const std::string& text, const PlanChoice& choice = {}) {
  return plan_campaign(fakes::campaign_from(text), choice);
}

std::vector<std::string> cells_of(const CampaignPlan& plan) {
  std::vector<std::string> cells;
  for (const PlannedCell& planned : plan.cells) {
    EXPECT_EQ(planned.cell.cell, cells.size());
    cells.push_back(cell_text(planned.cell));
  }
  return cells;
}

std::vector<std::string> tasks_of(const CampaignPlan& plan) {
  std::vector<std::string> tasks;
  for (const CampaignTask& task : plan.tasks) {
    tasks.push_back(fmt::format("{}/{}/{}", task.cell, task.seed, task.scheme));
  }
  return tasks;
}

TEST(CampaignPlan, IsTheProductWithTheFirstSweepSlowest) {
  EXPECT_THAT(cells_of(plan_of(kHead + kTwoSweeps)),
              ElementsAre("duration = 1min, size = s",
                          "duration = 1min, size = m",
                          "duration = 1min, size = l",
                          "duration = 2min, size = s",
                          "duration = 2min, size = m",
                          "duration = 2min, size = l"));
}

TEST(CampaignPlan, IsOneCellWhereNothingIsSwept) {
  const CampaignPlan plan = plan_of(kHead);
  EXPECT_THAT(cells_of(plan), ElementsAre(""));
  EXPECT_THAT(tasks_of(plan), ElementsAre("0/1/0"));
}

TEST(CampaignPlan, LeavesOutWhatConstraintsLeaveOut) {
  EXPECT_THAT(
      cells_of(plan_of(kHead + kTwoSweeps +
                       "constraint:\n"
                       "  - only: {size: [s, l]}\n"
                       "  - not: {size: l, duration: 1min}\n")),
      ElementsAre(
          "duration = 1min, size = s", "duration = 2min, size = s", "duration = 2min, size = l"));
  EXPECT_THROW(plan_of(kHead + kTwoSweeps + "constraint: [{not: {size: [s, m, l]}}]\n"),
               ConfigError);
}

TEST(CampaignPlan, RunsEverySeedInEveryCellByEveryScheme) {
  EXPECT_THAT(tasks_of(fakes::small_plan("seeds: {from: 3, to: 4}")),
              ElementsAre("0/3/0", "0/3/1", "0/4/0", "0/4/1", "1/3/0", "1/3/1", "1/4/0", "1/4/1"));
}

TEST(CampaignPlan, TakesSeedsOfOneParity) {
  struct Case {
    const char* name;
    std::string seeds;
    PlanChoice choice;
    std::vector<std::uint64_t> expected;
  };
  const std::vector<Case> cases = {
      {"odd", "seeds: {from: 2, to: 7, parity: odd}", {}, {3, 5, 7}},
      {"even", "seeds: {from: 1, to: 7, parity: even}", {}, {2, 4, 6}},
      {"counted", "seeds: {from: 4, parity: odd}\nrepeat: 2", {}, {5, 7}},
      {"one if nothing is said", "seeds: {from: 4}", {}, {4}},
      {"of the command line", "repeat: 9", {PlanChoice::SeedRange{20, 22}, {}, {}}, {20, 21, 22}},
      {"parity of the command line",
       "seeds: {from: 1, to: 5, parity: odd}",
       {{}, CampaignParity::kEven, {}},
       {2, 4}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<std::uint64_t> seeds;
    for (const CampaignTask& task : plan_of(kHead + c.seeds + "\n", c.choice).tasks) {
      seeds.push_back(task.seed);
    }
    EXPECT_EQ(seeds, c.expected);
  }
  EXPECT_THROW(plan_of(kHead + "seeds: {from: 2, to: 2, parity: odd}\n"), ConfigError);
}

TEST(CampaignPlan, DealsSeedsOutInTurn) {
  const std::string three = kHead + "sweep: [{key: duration, values: [1min, 2min, 3min]}]\n";
  EXPECT_THAT(tasks_of(plan_of(three + "seeds: {from: 1, to: 7, spread: in-turn}\n")),
              ElementsAre("0/3/0", "0/6/0", "1/1/0", "1/4/0", "1/7/0", "2/2/0", "2/5/0"));
  EXPECT_THAT(tasks_of(plan_of(three + "seeds: {from: 1, to: 9, parity: odd, spread: in-turn}\n")),
              ElementsAre("0/1/0", "0/7/0", "1/3/0", "1/9/0", "2/5/0"));
  EXPECT_THAT(plan_of(three + "seeds: {spread: in-turn}\nrepeat: 5\n").tasks, SizeIs(15));
}

// A seed went to another cell when the range began elsewhere: a lost run could not be made again.
TEST(CampaignPlan, DealsASeedToTheSameCellWhateverTheRange) {
  const std::string text = kHead + "sweep: [{key: duration, values: [1min, 2min, 3min]}]\n" +
                           "seeds: {from: 1, to: 99, parity: odd, spread: in-turn}\n";
  for (const CampaignTask& task : plan_of(text).tasks) {
    const CampaignPlan alone = plan_of(text, {PlanChoice::SeedRange{task.seed, task.seed}, {}, {}});
    EXPECT_THAT(alone.tasks, ElementsAre(task));
  }
}

TEST(CampaignPlan, SetsWhatTheFileTheCellAndTheSchemeSetInThisOrder) {
  const CampaignPlan plan = plan_of(
      "name: x\nscenario: ../smoke/healthy.yaml\n"
      "set: [duration=1min, probing.probes_per_visit=3, name=base]\n"
      "sweep: [{key: duration, values: [2min]}]\n"
      "schemes: [{name: ours, set: [probing.probes_per_visit=4]}]\n"
      "seeds: {from: 77}\n");
  const Scenario scenario = scenario_of(plan, plan.tasks.front());
  EXPECT_EQ(scenario.duration, std::chrono::minutes(2));
  EXPECT_EQ(scenario.pipeline.probing.probes_per_visit, 4);
  EXPECT_EQ(scenario.name, "base");
  EXPECT_EQ(scenario.seed, 77);
  const PlanCheck check = check_plan(plan);
  ASSERT_THAT(check.length_s, SizeIs(1));
  EXPECT_THAT(check.length_s.front(), ElementsAre(testing::DoubleNear(120.0, 1e-6)));
}

TEST(CampaignPlan, SaysWhereASettingStandsThatTheScenarioDoesNotTake) {
  const CampaignPlan plan = plan_of(
      kHead + "sweep: [{name: a, values: [{name: ok}, {name: bad, set: [duratoin=1s]}]}]\n");
  try {
    check_plan(plan);
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with(fakes::campaign_path() + ":4:58: sweep[0].values[1].set[0]: "))
        << what;
    EXPECT_THAT(what, HasSubstr("did you mean 'duration'?"));
    EXPECT_THAT(what, HasSubstr("scheme 'ours', cell 1 (a = bad)"));
  }
}

TEST(CampaignPlan, HasAHashThatKnowsScenariosAndNotSeeds) {
  const std::string base = kHead + "sweep: [{key: duration, values: [1min]}]\n";
  const std::string hash = check_plan(plan_of(base)).hash;
  EXPECT_EQ(check_plan(plan_of(base + "# a remark\nrepeat: 9\ndescription: x\n")).hash, hash);
  EXPECT_EQ(check_plan(plan_of(base, {PlanChoice::SeedRange{5, 9}, {}, {}})).hash, hash);
  const std::vector<std::string> others = {
      kHead + "sweep: [{key: duration, values: [2min]}]\n",
      base + "set: [probing.probes_per_visit=3]\n",
      "name: x\nscenario: ../smoke/crc-error.yaml\nschemes: [{name: ours}]\n"
      "sweep: [{key: duration, values: [6min]}]\n",
      "name: x\nscenario: ../smoke/healthy.yaml\nschemes: [{name: other}]\n"
      "sweep: [{key: duration, values: [1min]}]\n",
      "name: x\nscenario: ../smoke/healthy.yaml\n"
      "schemes: [{name: ours, riders: [{scheme: a, detector: pingmesh}]}]\n"
      "sweep: [{key: duration, values: [1min]}]\n",
  };
  std::set<std::string> hashes = {hash};
  for (const std::string& other : others) {
    hashes.insert(check_plan(plan_of(other)).hash);
  }
  EXPECT_THAT(hashes, SizeIs(1 + others.size()));
}

TEST(CampaignPlan, NeedsItsScenario) {
  try {
    plan_of("name: x\nscenario: nowhere.yaml\nschemes: [{name: ours}]\n");
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("made_up.yaml:2:11: scenario: expected a readable file"));
  }
}

}  // namespace
}  // namespace bonescan
