#include "tools/campaign/campaign_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace bonescan {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

struct FaultCase {
  FaultStatus status;
  bool visible = true;
  bool gray = false;
  std::optional<double> delay_s{};
  Placement placement = Placement::kNotJudged;
};

CampaignData some_campaign() {
  CampaignData data;
  data.name = "some";
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CampaignRun run;
    run.seed = seed;
    run.scheme = "ours";
    run.false_positives = seed == 1 ? 1 : 0;
    run.rnic_days = 0.5;
    run.probes = 10;
    run.failure = seed == 3 ? "no place" : "";
    data.runs.push_back(run);
  }
  const FaultCase cases[] = {
      {FaultStatus::kDetected, true, false, 2.0, Placement::kCorrect},
      {FaultStatus::kDetected, true, false, 4.0, Placement::kWrong},
      {FaultStatus::kDetected, true, true, 100.0, Placement::kCorrect},  // gray: no delay
      {FaultStatus::kMissed},
      {FaultStatus::kMissed, false},
      {FaultStatus::kUndecided},
      {FaultStatus::kAgentDeath},
  };
  for (const FaultCase& c : cases) {
    CampaignFault fault;
    fault.scheme = "ours";
    fault.status = c.status;
    fault.visible = c.visible;
    fault.gray = c.gray;
    fault.time_to_detect_s = c.delay_s;
    fault.placement = c.placement;
    data.faults.push_back(fault);
  }
  return data;
}

TEST(CampaignSummary, CountsAsOneEvaluationDoes) {
  const auto summaries = summarize(some_campaign(), {"absent", "ours"});
  ASSERT_THAT(summaries, SizeIs(1));
  const SchemeSummary& sum = summaries.front();
  EXPECT_EQ(sum.scheme, "ours");
  EXPECT_EQ(sum.runs, 3);
  EXPECT_EQ(sum.failed, 1);
  EXPECT_EQ(sum.faults, 5);
  EXPECT_EQ(sum.visible, 4);
  EXPECT_EQ(sum.found, 3);
  EXPECT_EQ(sum.missed, 2);
  EXPECT_EQ(sum.undecided, 1);
  EXPECT_EQ(sum.precision.value, 0.75);
  EXPECT_EQ(sum.recall.value, 0.6);
  EXPECT_EQ(sum.recall_visible.value, 0.75);
  EXPECT_EQ(sum.placed.successes, 2);
  EXPECT_EQ(sum.placed.trials, 3);
  EXPECT_EQ(sum.time_to_detect.mean_s, 3.0);
  EXPECT_EQ(sum.time_to_detect.median_s, 3.0);
  EXPECT_EQ(sum.time_to_detect.p95_s, 3.9);
  EXPECT_EQ(sum.rnic_days, 1.5);
  EXPECT_EQ(sum.probes, 30);
}

TEST(CampaignSummary, LeavesUndefinedWhatHasNoTrials) {
  CampaignData data;
  CampaignRun run;
  run.scheme = "ours";
  data.runs.push_back(run);
  const auto summaries = summarize(data, {"ours"});
  EXPECT_EQ(summaries.front().precision.value, std::nullopt);
  EXPECT_THAT(summary_table(summaries), HasSubstr(" -"));
  const Json json = summary_json(data, summaries);
  EXPECT_TRUE(json["schemes"][0]["precision"]["value"].is_null());
  EXPECT_TRUE(json["schemes"][0]["time_to_detect_s"]["mean"].is_null());
}

TEST(CampaignSummary, IsATableForPeople) {
  EXPECT_EQ(summary_table(summarize(some_campaign(), {"ours"})),
            "scheme  runs  faults  visible  found  false  precision %       recall visible %  "
            "placed %          mean s  p50 s  p95 s\n"
            "ours    2     5       4        3      1      75.0 (30.1-95.4)  75.0 (30.1-95.4)  "
            "66.7 (20.8-93.9)  3.0     3.0    3.9\n");
}

}  // namespace
}  // namespace bonescan
