#include "tools/report/report_json.h"

#include "tests/support/report_schema.h"
#include "tests/support/sample_run.h"

#include <cmath>
#include <fstream>
#include <limits>

namespace bonescan {
namespace {

Json report_of(const RunData& run) {
  return report_json(run, evaluate(run));
}

/// The same run as it would be if it had been killed, replayed without truth, or empty.
std::vector<std::pair<std::string, RunData>> variants() {
  RunData cut = sample_run();
  cut.result = {};
  cut.result.reached = at_s(830);
  RunData replayed = sample_run();
  replayed.info.mode = "replay";
  replayed.info.truth_available = false;
  replayed.truth.clear();
  RunData empty;
  empty.info.truth_available = true;
  return {{"sample", sample_run()}, {"cut", cut}, {"replayed", replayed}, {"empty", empty}};
}

TEST(ReportJson, HasEveryKeyOfTheContract) {
  const Json report = report_of(sample_run());
  const std::vector<const char*> keys = {"/schema_version",
                                         "/complete",
                                         "/mode",
                                         "/truth_available",
                                         "/scenario/name",
                                         "/scenario/hash",
                                         "/seed",
                                         "/build/version",
                                         "/build/commit",
                                         "/build/compiler",
                                         "/build/preset",
                                         "/fingerprint",
                                         "/simulated_s",
                                         "/wall_s",
                                         "/probes/sent",
                                         "/probes/lost",
                                         "/probes/local_errors",
                                         "/skeleton/rnics",
                                         "/skeleton/pairs_full_mesh",
                                         "/skeleton/pairs_same_rail",
                                         "/skeleton/pairs_probed",
                                         "/skeleton/destinations_per_rnic_mean",
                                         "/skeleton/sweep_s",
                                         "/matching/deadline_s",
                                         "/detection/faults",
                                         "/detection/faults_visible",
                                         "/detection/true_positives",
                                         "/detection/false_positives",
                                         "/detection/false_negatives",
                                         "/detection/duplicates",
                                         "/detection/precision",
                                         "/detection/precision_ci95",
                                         "/detection/recall",
                                         "/detection/recall_visible",
                                         "/detection/recall_ci95",
                                         "/detection/time_to_detect_s/mean",
                                         "/detection/time_to_detect_s/median",
                                         "/detection/time_to_detect_s/p95",
                                         "/detection/false_alarms_per_day",
                                         "/detection/by_kind/0/kind",
                                         "/localization/localized",
                                         "/localization/correct",
                                         "/localization/abstained",
                                         "/localization/accuracy",
                                         "/localization/accuracy_ci95",
                                         "/localization/set_size_mean",
                                         "/localization/top1",
                                         "/incidents/0/id",
                                         "/incidents/0/opened_s",
                                         "/incidents/0/closed_s",
                                         "/incidents/0/layer",
                                         "/incidents/0/component/type",
                                         "/incidents/0/component/id",
                                         "/incidents/0/component/name",
                                         "/incidents/0/candidates/0/name",
                                         "/incidents/0/kind",
                                         "/incidents/0/confidence",
                                         "/incidents/0/pairs/0/source",
                                         "/incidents/0/evidence/0/text"};
  for (const char* key : keys) {
    EXPECT_TRUE(report.contains(Json::json_pointer(key))) << key;
  }
}

TEST(ReportJson, CountsTheSampleRight) {
  const Json report = report_of(sample_run());
  const Json& detection = report["detection"];
  EXPECT_EQ(detection["faults"], 4);
  EXPECT_EQ(detection["true_positives"], 3);
  EXPECT_EQ(detection["false_negatives"], 1);
  EXPECT_EQ(detection["false_positives"], 1);
  EXPECT_EQ(detection["duplicates"], 1);
  EXPECT_EQ(detection["merged"], 1);
  EXPECT_EQ(detection["agent_deaths"], 1);
  EXPECT_DOUBLE_EQ(detection["precision"].get<double>(), 0.75);
  EXPECT_DOUBLE_EQ(detection["time_to_detect_s"]["mean"].get<double>(), (12.4 + 3 + 6) / 3);
  EXPECT_EQ(report["localization"]["localized"], 2);
  EXPECT_EQ(report["localization"]["correct"], 1) << "two named where one could be told";
  EXPECT_EQ(report["localization"]["abstained"], 1);
  EXPECT_DOUBLE_EQ(report["localization"]["top1"].get<double>(), 0.5);
  EXPECT_EQ(report["incidents"][0]["opened_s"].dump(), "252.4");
  EXPECT_EQ(report["faults"][3]["status"], "missed");
}

TEST(ReportJson, IsNullWithoutTruth) {
  RunData run = sample_run();
  run.info.truth_available = false;
  const Json report = report_of(run);
  EXPECT_TRUE(report["detection"].is_null());
  EXPECT_TRUE(report["localization"].is_null());
  EXPECT_TRUE(report["faults"].is_null());
  EXPECT_EQ(report["incidents"].size(), run.incidents.size());
  EXPECT_TRUE(report["incidents"][0]["status"].is_null());
}

TEST(ReportJson, UndefinedRatiosAreNull) {
  RunDataBuilder b;
  const Json report = report_of(b.run);
  EXPECT_TRUE(report["detection"]["precision"].is_null());
  EXPECT_TRUE(report["detection"]["recall_ci95"].is_null());
  EXPECT_TRUE(report["detection"]["time_to_detect_s"]["mean"].is_null());
  EXPECT_TRUE(report["localization"]["accuracy"].is_null());
  EXPECT_DOUBLE_EQ(report["detection"]["false_alarms_per_day"].get<double>(), 0.0);
}

TEST(ReportJson, NumbersAreFinite) {
  EXPECT_TRUE(json_number(std::numeric_limits<double>::infinity()).is_null());
  EXPECT_TRUE(json_number(std::nan("")).is_null());
  EXPECT_TRUE(json_number(std::nullopt).is_null());
  EXPECT_DOUBLE_EQ(json_number(1.5).get<double>(), 1.5);
}

TEST(ReportJson, TextSurvivesNamesThatAreNotUtf8) {
  RunDataBuilder b;
  b.run.info.scenario_name = "bad \xFF name";
  const Json parsed = Json::parse(json_text(report_of(b.run)));
  EXPECT_EQ(parsed["scenario"]["name"], "bad \uFFFD name");
}

TEST(ReportJson, FollowsThePublishedSchema) {
  if (!fakes::schema_validator_installed()) {
    GTEST_SKIP() << "python3-jsonschema is not installed";
  }
  for (const auto& [name, run] : variants()) {
    SCOPED_TRACE(name);
    Json report = report_of(run);
    const std::string path = testing::TempDir() + "bonescan_report_" + name + ".json";
    std::ofstream(path) << json_text(report);
    EXPECT_TRUE(fakes::follows_report_schema(path)) << json_text(report);
    report.erase("matching");
    std::ofstream(path) << json_text(report);
    EXPECT_FALSE(fakes::follows_report_schema(path)) << "a missing key must be noticed";
  }
}

}  // namespace
}  // namespace bonescan
