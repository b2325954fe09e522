// Files that ask for plans: what is read, and what is said about mistakes.
#include "tools/plan/plan_file.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/key_markdown.h"

#include <filesystem>

namespace bonescan {
namespace {

using testing::HasSubstr;

constexpr std::string_view kLeast = R"(name: small
points:
  - {name: one, tasks: [{gpus: 64, tp: 8, pp: 2, dp: 4}]}
)";

std::string complaint(const std::string& text) {
  try {
    (void)parse_plan_file(text, "plan.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(PlanFile, ReadsWhatIsThereAndKeepsDefaults) {
  const PlanFile plan = parse_plan_file(std::string(kLeast) + R"(
objectives:
  - {name: dead, symptom: loss, size: 1, on: pair, share: 99%, within: 20s, harm: 50%}
search: {schemes: [skeleton, full-mesh], visits: [250ms, 3s], probes: [5]}
limits: {false_alarms_per_day: 2}
noise: {reports_late: 2%}
)",
                                        "plans/plan.yaml");
  ASSERT_EQ(plan.points.size(), 1U);
  EXPECT_EQ(plan.points[0].tasks[0].shape.dp, 4U);
  EXPECT_EQ(plan.points[0].tasks[0].count, 1U);
  ASSERT_EQ(plan.question.objectives.size(), 1U);
  EXPECT_EQ(plan.question.objectives[0].part, FailingPart::kPair);
  EXPECT_DOUBLE_EQ(plan.question.objectives[0].share, 0.99);
  EXPECT_THAT(plan.question.search.schemes,
              testing::ElementsAre(ProbeScheme::kSkeleton, ProbeScheme::kFullMesh));
  EXPECT_THAT(plan.question.search.visits,
              testing::ElementsAre(std::chrono::milliseconds(250), std::chrono::seconds(3)));
  EXPECT_DOUBLE_EQ(*plan.question.limits.false_alarms_per_day, 2.0);
  EXPECT_FALSE(plan.question.limits.agent_cores);
  EXPECT_EQ(plan.verify.scenario, "plans/../paper/accuracy.yaml");
}

TEST(PlanFile, SaysWhatIsWrongAndWhere) {
  struct Case {
    const char* name;
    std::string text;
    const char* says;
  };
  const std::string least(kLeast);
  const Case cases[] = {
      {"no points", "name: x\n", "plan.yaml:1:1: points: expected this key"},
      {"unknown key", least + "sizes: 3\n", "plan.yaml:4:1: sizes: expected a known key"},
      {"shape",
       "name: x\npoints:\n  - {name: a, tasks: [{gpus: 60, tp: 8, pp: 2, dp: 4}]}\n",
       "plan.yaml:3:30: points[0].tasks[0].gpus: expected tp x pp x dp GPUs; found 60 and 8 x 2 x "
       "4"},
      {"twice",
       "name: x\npoints:\n  - {name: a, tasks: [{gpus: 1}]}\n  - {name: a, tasks: [{gpus: 1}]}\n",
       "points[1].name: expected a name that no other point has"},
      {"no factor",
       least + "objectives: [{name: l, symptom: latency, size: 0.5, within: 5s}]\n",
       "objectives[0].size: expected a factor above 1"},
      {"no share",
       least + "objectives: [{name: l, symptom: loss, size: 5, within: 5s}]\n",
       "objectives[0].size: expected a share of round trips"},
      {"no such scheme", least + "search: {schemes: [skeletons]}\n", "search.schemes[0]"},
      {"odd switch", least + "fat_trees: [{radix: 17}]\n", "fat_trees[0].radix: expected an even"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(complaint(c.text), HasSubstr(c.says));
  }
}

TEST(PlanFile, ReadmeSaysWhatEveryKeyMeans) {
  const std::string readme = read_config_file(BONESCAN_SOURCE_DIR "/tools/plan/README.md");
  EXPECT_THAT(readme, HasSubstr(markdown_key_table(plan_schema_keys())));
}

TEST(PlanFile, EveryExampleIsRead) {
  std::size_t read = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(BONESCAN_SOURCE_DIR "/scenarios/budget")) {
    SCOPED_TRACE(entry.path().string());
    EXPECT_NO_THROW((void)load_plan_file(entry.path().string()));
    ++read;
  }
  EXPECT_GE(read, 4U);
}

}  // namespace
}  // namespace bonescan
