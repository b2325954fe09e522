#include "tools/study/output/line_chart.h"
#include "tools/study/study_case.h"
#include "tools/study/study_drift.h"
#include "tools/study/study_evidence.h"
#include "tools/study/study_files.h"
#include "tools/study/study_noise.h"
#include "tools/study/study_plan.h"
#include "tools/study/study_runs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace bonescan {
namespace {

StudyCase small_job() {
  StudyCase run;
  run.job.gpus = 128;
  run.job.tp = 8;
  run.job.pp = 4;
  run.job.dp = 4;
  run.job.step_time = std::chrono::seconds(12);
  return run;
}

double sd_of(const TrafficRecord& record, std::size_t member) {
  double sum = 0.0;
  double square = 0.0;
  for (const float rate : record.row(member)) {
    sum += static_cast<double>(rate);
    square += static_cast<double>(rate) * static_cast<double>(rate);
  }
  const auto n = static_cast<double>(record.columns);
  return std::sqrt(square / n - sum / n * (sum / n));
}

TEST(StudyNoise, EveryKindHasTheStandardDeviationThatIsAsked) {
  for (const StudyNoise kind : {StudyNoise::kWhite,
                                StudyNoise::kBlocks,
                                StudyNoise::kStudentT,
                                StudyNoise::kSpikes,
                                StudyNoise::kRegimes,
                                StudyNoise::kCotenants}) {
    SCOPED_TRACE(to_string(kind));
    double square = 0.0;
    double sum = 0.0;
    constexpr std::uint32_t kRows = 200;
    constexpr std::size_t kColumns = 500;
    for (std::uint32_t row = 0; row < kRows; ++row) {
      std::vector<float> values(kColumns, 0.0F);
      add_noise(kind, 7, row, row, 3.0, values);
      for (const float value : values) {
        sum += static_cast<double>(value);
        square += static_cast<double>(value) * static_cast<double>(value);
      }
    }
    const double n = kRows * kColumns;
    // Student's t has no fourth moment: its spread is known worst.
    EXPECT_NEAR(std::sqrt(square / n - sum / n * (sum / n)), 3.0, 0.45);
  }
}

TEST(StudyCase, NoiseIsAsLoudAsTheRatioSays) {
  StudyCase run = small_job();
  run.length = std::chrono::seconds(600);
  run.snr_db = 300.0;
  const StudyWorld world(run, 1);
  const double signal = sd_of(study_record(world, run, 1), 5);
  run.snr_db = 0.0;
  // Variances add: twice the signal's at 0 dB.
  EXPECT_NEAR(sd_of(study_record(world, run, 1), 5) / signal, std::sqrt(2.0), 0.08);
}

TEST(StudyCase, ABlindInferenceFallsBackAndMissesNothing) {
  StudyCase run = small_job();
  run.length = std::chrono::seconds(10);
  const SkeletonInference inference{InferenceOptions{}};
  const StudyOutcome outcome = run_study_case(run, 1, inference);
  EXPECT_TRUE(outcome.fell_back());
  EXPECT_EQ(outcome.missed(), 0U);
  EXPECT_EQ(outcome.adjusted_rand, 0.0);
}

TEST(StudyCase, MissedPairsAreCountedByClass) {
  StudyCase run = small_job();
  const StudyWorld world(run, 1);
  const PingLists nobody(world.rnics.size());
  StudyOutcome outcome;
  compare_with_truth(world, nobody, outcome);
  // Rings of four send one way; pipelines send both ways between four stages.
  EXPECT_EQ(outcome.edges[static_cast<std::size_t>(EdgeClass::kData)].all, 128U);
  EXPECT_EQ(outcome.edges[static_cast<std::size_t>(EdgeClass::kPipeline)].all, 2U * 3U * 32U);
  EXPECT_EQ(outcome.missed(), 320U);
  EXPECT_EQ(outcome.recall(), 0.0);
  EXPECT_EQ(outcome.longest_oracle, 4U);
}

TEST(StudyEvidence, TablesNamePeersAcrossRails) {
  StudyCase run = small_job();
  run.job.pp = 2;
  run.job.dp = 8;
  run.job.ep = 4;
  run.job.expert_rails = ExpertRails::kCross;
  const EvidenceOutcome outcome = run_flow_tables(run, 1);
  EXPECT_EQ(outcome.scope, SkeletonScope::kPeers);
  EXPECT_EQ(outcome.missed, 0U);
  EXPECT_LT(outcome.longest_list, 60U);
}

TEST(StudyRuns, ThreadsChangeNothing) {
  const StudyResults one = run_study(StudySize::kQuick, SeedParity::kOdd, 1);
  const StudyResults three = run_study(StudySize::kQuick, SeedParity::kOdd, 3);
  EXPECT_EQ(study_table(one), study_table(three));
}

TEST(StudyRuns, WhatIsRequiredCanFail) {
  PointResult point;
  point.summary.runs = 20;
  point.summary.adjusted_rand_mean = 0.97;
  point.summary.edges[0] = {996, 1'000};
  point.summary.runs_fallen_back = 1;
  point.point.bound = {.adjusted_rand = 0.95, .recall = 0.995, .fallback = 0.05};
  EXPECT_TRUE(point.holds());
  point.summary.runs_fallen_back = 2;
  EXPECT_FALSE(point.holds());
  point.summary.runs_fallen_back = 0;
  point.summary.edges[0].covered = 994;
  EXPECT_FALSE(point.holds());
  point.summary.edges[0].covered = 1'000;
  point.summary.adjusted_rand_mean = 0.94;
  EXPECT_FALSE(point.holds());

  StudyResults results;
  results.kinds.emplace_back();
  results.kinds[0].summary.edges[0] = {1'000, 1'000};
  EXPECT_TRUE(results.hold());
  results.kinds[0].runs_confident_missing = 1;
  EXPECT_FALSE(results.hold());
}

TEST(StudyPlan, RealisticJobsFollowFromTheirModels) {
  for (std::uint64_t seed = 1; seed < 40; seed += 2) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    const RealisticJob drawn = draw_realistic_job(seed);
    EXPECT_GT(drawn.step_s, 0.0);
    EXPECT_GE(drawn.offset_s, 0.0);
    EXPECT_LT(drawn.offset_s, drawn.step_s);
  }
}

TEST(LineChart, DrawsEveryLineAndItsName) {
  const std::string svg = to_svg({.title = "t",
                                  .x_label = "x",
                                  .y_label = "y",
                                  .lines = {{"a", {{0.0, 0.0}, {1.0, 1.0}}}, {"b", {{1.0, 0.5}}}}});
  EXPECT_NE(svg.find("points=\"52.0,316.0 450.0,34.0 \""), std::string::npos);
  EXPECT_NE(svg.find(">b</text>"), std::string::npos);
}

TEST(LineChart, LeavesOutWhatIsNotFinite) {
  const std::string svg = to_svg(
      {.title = "delays",
       .x_label = "x",
       .y_label = "y",
       .lines = {{"a", {{1.0, 2.0}, {10.0, std::numeric_limits<double>::infinity()}}}, {"b", {}}},
       .x_scale = ChartScale::kLogarithmic,
       .y_scale = ChartScale::kLogarithmic});
  EXPECT_NE(svg.find(">delays<"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(LineChart, DrawsDecadesWhereItIsLogarithmic) {
  const std::string svg = to_svg({.title = "t",
                                  .x_label = "x",
                                  .y_label = "y",
                                  .lines = {{"a", {{1.0, 0.0}, {10.0, 0.5}, {100.0, 1.0}}}},
                                  .x_scale = ChartScale::kLogarithmic});
  EXPECT_NE(svg.find("points=\"52.0,316.0 251.0,175.0 450.0,34.0 \""), std::string::npos) << svg;
}

}  // namespace
}  // namespace bonescan
