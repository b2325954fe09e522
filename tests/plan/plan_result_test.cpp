// Plans worked out: published figures, fleets, pictures, and the judge of matrices.
#include "tools/plan/plan_result.h"

#include "tools/plan/pareto_svg.h"
#include "tools/plan/plan_report.h"
#include "tools/plan/verification.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

using testing::HasSubstr;
using testing::Not;

const SchemeRow& row_of(const PointResult& point, ProbeScheme scheme) {
  return *std::find_if(point.rows.begin(), point.rows.end(), [&](const SchemeRow& row) {
    return row.scheme == scheme;
  });
}

PlanFile paper(const std::string& more) {
  return parse_plan_file(R"(name: test
full_mesh: everybody
points:
  - name: "512"
    tasks: [{gpus: 512, tp: 8, pp: 8, dp: 8}]
    published: {full_mesh_s: 560.25, same_rail_s: 64.85, skeleton_s: 8.23}
)" + more,
                         "test.yaml");
}

// 512 GPUs, TP = PP = DP = 8: 64 destinations become 9, 85.9 % less, counting oneself as the paper.
TEST(WorkOut, CountsThePapersExample) {
  const PlanResult result =
      work_out(paper("search: {schemes: [full-mesh, same-rail, skeleton]}\n"));
  const PointResult& point = result.points.front();
  EXPECT_EQ(point.rnics, 512U);
  EXPECT_TRUE(point.candidates.empty());
  const SchemeRow& mesh = row_of(point, ProbeScheme::kFullMesh);
  const SchemeRow& rail = row_of(point, ProbeScheme::kSameRail);
  const SchemeRow& skeleton = row_of(point, ProbeScheme::kSkeleton);
  EXPECT_EQ(mesh.size->longest_list, 511U);
  EXPECT_EQ(rail.size->longest_list, 63U);
  EXPECT_EQ(skeleton.size->longest_list, 9U);
  EXPECT_NEAR(*savings_of(point).of_same_rail_and_oneself, 0.859, 0.001);
  EXPECT_DOUBLE_EQ(*savings_of(point).of_same_rail, 1.0 - 9.0 / 63.0);
  EXPECT_DOUBLE_EQ(*savings_of(point).of_full_mesh, 1.0 - 9.0 / 511.0);
  ASSERT_TRUE(skeleton.identity && mesh.identity);
  EXPECT_NEAR(skeleton.identity->relative_difference, 9.0 / 8.23 - 1.0, 1e-12);
  EXPECT_NEAR(mesh.identity->relative_difference, 511.0 / 560.25 - 1.0, 1e-12);
  const Json json = plan_json(paper(""), result);
  EXPECT_EQ(json["points"][0]["schemes"][2]["list_longest"], 9);
  EXPECT_EQ(json["published_contradictions"].size(), published_contradictions().size());
}

TEST(WorkOut, JudgesFatTreesByItself) {
  const PlanResult result =
      work_out(paper("search: {schemes: [skeleton]}\nfat_trees:\n"
                     "  - {radix: 18, alpha: 3, beta: 0, published: 2187}\n"
                     "  - {radix: 18, alpha: 1, beta: 2, published: 1512}\n"));
  ASSERT_EQ(result.fat_trees.size(), 2U);
  const FatTreeResult& cover = result.fat_trees[0];
  EXPECT_EQ(cover.paths, 2'187U);
  EXPECT_GE(cover.checked.least_cover, 3U);
  EXPECT_FALSE(cover.ambiguous);  // Nothing is asked of sets.
  const FatTreeResult& pairs = result.fat_trees[1];
  EXPECT_LE(static_cast<double>(pairs.paths), 1.10 * 1'512.0);
  EXPECT_GE(pairs.paths, pairs.fewest);
  ASSERT_TRUE(pairs.ambiguous);
  EXPECT_FALSE(*pairs.ambiguous);
  EXPECT_EQ(pairs.judged_links, 2'916U);
}

TEST(WorkOut, FindsTheCheapestScheduleOrSaysWhatBinds) {
  const std::string objectives = R"(
objectives:
  - {name: dead RNIC, symptom: loss, size: 1, within: 5s, per_fleet_day: 10}
search: {schemes: [same-rail, skeleton, pingmesh], visits: [500ms, 1s, 2s], probes: [4, 10]}
)";
  const PlanResult result = work_out(paper(objectives));
  const PointResult& point = result.points.front();
  ASSERT_TRUE(point.choice.best);
  const PlanCandidate& best = point.candidates[*point.choice.best];
  EXPECT_EQ(point.candidates.size(), 12U) << "pingmesh is counted, and no list of the pipeline";
  for (const PlanCandidate& other : point.candidates) {
    EXPECT_TRUE(!other.feasible() || other.probes_per_rnic_s >= best.probes_per_rnic_s);
  }
  const std::string svg = pareto_svg("a < b & c", point);
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(svg, HasSubstr("run this: "));
  EXPECT_THAT(svg, HasSubstr(">skeleton</text>"));

  const PlanFile strict = paper(objectives + "limits: {eswitch_entries: 1}\n");
  const PlanResult nothing = work_out(strict);
  EXPECT_FALSE(nothing.points.front().choice.best);
  EXPECT_THAT(nothing.points.front().choice.binding,
              testing::ElementsAre("eswitch entries of an RNIC"));
  EXPECT_THAT(plan_text(strict, nothing), HasSubstr("binding: eswitch entries of an RNIC"));
  EXPECT_THAT(pareto_svg("t", nothing.points.front()), HasSubstr("nothing meets every"));
}

TEST(WorkOut, EstimatesAreTheSameAsListsWhereBothAreHad) {
  PlanFile plan = paper("search: {schemes: [same-rail, skeleton]}\n");
  const PlanResult placed = work_out(plan);
  plan.points[0].estimate = true;
  const PlanResult estimated = work_out(plan);
  for (const ProbeScheme scheme : {ProbeScheme::kSameRail, ProbeScheme::kSkeleton}) {
    const SchemeSize& one = *row_of(placed.points[0], scheme).size;
    const SchemeSize& other = *row_of(estimated.points[0], scheme).size;
    EXPECT_EQ(one.pairs, other.pairs);
    EXPECT_EQ(one.sweep, other.sweep);
    EXPECT_DOUBLE_EQ(one.mean_list, other.mean_list);
    EXPECT_NEAR(one.probes_by_time, other.probes_by_time, 1e-6);
    EXPECT_FALSE(row_of(estimated.points[0], scheme).coverage);
  }
  EXPECT_THAT(plan_text(plan, estimated), HasSubstr("an estimate"));
}

TEST(WorkOut, DoesNotGuessWhereATaskDoesNotFit) {
  const PlanFile plan =
      parse_plan_file("name: x\npoints: [{name: odd, tasks: [{gpus: 12, dp: 12}]}]\n", "test.yaml");
  EXPECT_THROW((void)work_out(plan), ConfigError);
}

// Few failures: that the machinery works; the figures are in results/planner.
TEST(Verify, SimulatesWhatItPredicts) {
  PlanFile plan = load_plan_file(BONESCAN_SOURCE_DIR "/scenarios/budget/verify.yaml");
  plan.question.objectives.resize(2);
  plan.verify.visits = {std::chrono::seconds(1)};
  plan.verify.faults = 40;
  plan.verify.list_length = 7;
  const std::vector<VerifyPoint> points = verify_points(plan);
  ASSERT_EQ(points.size(), 2U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const VerifyOutcome outcome = verify_point(plan, points[i], i);
    EXPECT_EQ(outcome.faults, 40U);
    EXPECT_GE(outcome.delays_s.size(), 38U);
    const double predicted_s = seconds(*points[i].predicted.quantile(0.5));
    // The median of 40 lies within the middle half of its distribution but once in 10,000.
    EXPECT_GT(outcome.quantile_s(0.5), seconds(*points[i].predicted.quantile(0.2)));
    EXPECT_LT(outcome.quantile_s(0.5), seconds(*points[i].predicted.quantile(0.8)));
    EXPECT_THAT(verify_row(points[i], outcome), HasSubstr(fmt::format("{:.2f}", predicted_s)));
    EXPECT_THAT(predicted_row(points[i]), HasSubstr(points[i].name));
  }
}

TEST(VerifyOutcome, MissedFailuresComeLast) {
  const VerifyOutcome outcome{.delays_s = {1.0, 2.0, 3.0}, .faults = 5};
  EXPECT_DOUBLE_EQ(outcome.quantile_s(0.25), 2.0);
  EXPECT_TRUE(std::isinf(outcome.quantile_s(0.9)));
}

}  // namespace
}  // namespace bonescan
