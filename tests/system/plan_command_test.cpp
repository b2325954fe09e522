// `bonescan plan` as a user meets it: tables, JSON, pictures, exit codes.
#include "tests/support/bonescan_cli.h"

#include <nlohmann/json.hpp>

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;

void write(const std::string& file, const std::string& text) {
  std::ofstream(file) << text;
}

TEST(PlanCommand, EstimatesTenMillionRnics) {
  const ChildResult result = bonescan({"plan", source_file("scenarios/budget/ten-million.yaml")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("10000000 RNICs"));
  EXPECT_THAT(result.out, HasSubstr("predicted, not simulated"));
  EXPECT_THAT(result.out, HasSubstr("run: "));
}

TEST(PlanCommand, WritesJsonAndAPicture) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("plan.yaml");
  write(file, R"(name: little
points: [{name: "a/b", tasks: [{gpus: 64, tp: 8, pp: 2, dp: 4}]}]
objectives: [{name: dead, symptom: loss, size: 1, within: 5s}]
search: {schemes: [skeleton], visits: [1s], probes: [10]}
)");
  const ChildResult result = bonescan({"plan", file, "--json", "--plot", directory.file("plots")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["points"][0]["schedule"]["optimum"]["scheme"], "skeleton");
  EXPECT_EQ(json["points"][0]["schemes"][0]["list_longest"], 4);
  EXPECT_THAT(read_file(directory.file("plots/pareto-a-b.svg")), HasSubstr("</svg>"));
}

TEST(PlanCommand, ExitsWithOneIfNothingMeetsAllAndWithTwoForABadFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("plan.yaml");
  const std::string point = "points: [{name: a, tasks: [{gpus: 64, tp: 8, pp: 2, dp: 4}]}]\n";
  write(file,
        "name: n\n" + point + "objectives: [{name: dead, symptom: loss, size: 1, within: 1ms}]\n");
  const ChildResult nothing = bonescan({"plan", file});
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_THAT(nothing.out, HasSubstr("binding: dead"));
  write(file, "name: n\n" + point + "objectiv: 3\n");
  const ChildResult bad = bonescan({"plan", file});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(bad.out, "");
  EXPECT_THAT(bad.err, HasSubstr("plan.yaml:3:1: objectiv: expected"));
  EXPECT_EQ(bonescan({"plan", file, "--faults", "20"}).exit_code, 2) << "only with --verify";
}

}  // namespace
}  // namespace bonescan::fakes
