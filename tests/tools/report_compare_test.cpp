#include "tests/support/sample_run.h"
#include "tools/report/compare.h"

namespace bonescan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Comparison compare(const RunData& first, const RunData& second) {
  return compare_runs(first, evaluate(first), second, evaluate(second));
}

/// Like the sample, but its first incident is gone.
RunData worse_run() {
  RunData run = sample_run();
  run.incidents.erase(run.incidents.begin());
  run.result.fingerprint = "fedcba9876543210";
  return run;
}

TEST(Compare, FindsNoDifferenceOfARunToItself) {
  const Comparison c = compare(sample_run(), sample_run());
  EXPECT_TRUE(c.same_scenario);
  EXPECT_TRUE(c.same_seed);
  EXPECT_TRUE(c.same_build);
  EXPECT_EQ(c.same_fingerprint, true);
  EXPECT_EQ(c.both, 3U);
  EXPECT_EQ(c.neither, 1U);
  EXPECT_DOUBLE_EQ(c.mcnemar_p.value(), 1.0);
  for (const MetricComparison& metric : c.metrics) {
    EXPECT_EQ(metric.difference.value_or(0), 0) << metric.name;
  }
}

TEST(Compare, NamesTheFaultThatOneRunAloneFound) {
  const Comparison c = compare(sample_run(), worse_run());
  EXPECT_EQ(c.same_fingerprint, false);
  EXPECT_THAT(c.only_first, ElementsAre("crc-on-trunk"));
  EXPECT_THAT(c.only_second, IsEmpty());
  EXPECT_DOUBLE_EQ(c.mcnemar_p.value(), 1.0) << "one discordant trial proves nothing";
  const std::string text = comparison_text(c);
  EXPECT_THAT(text, HasSubstr("fingerprint DIFFERENT"));
  EXPECT_THAT(text, HasSubstr("found by the first only: crc-on-trunk"));
  const Json json = Json::parse(json_text(comparison_json(c)));
  EXPECT_EQ(json["faults"]["only_first"][0], "crc-on-trunk");
  EXPECT_EQ(json["same_fingerprint"], false);
}

TEST(Compare, TellsTheDirectionOfADifference) {
  const Comparison c = compare(sample_run(), worse_run());
  for (const MetricComparison& metric : c.metrics) {
    if (metric.name == "recall") {
      EXPECT_DOUBLE_EQ(metric.difference.value(), -0.25);
      return;
    }
  }
  FAIL() << "recall is not compared";
}

TEST(Compare, PairsOnlyTheSameTrials) {
  RunData other_seed = sample_run();
  other_seed.info.seed = 8;
  EXPECT_FALSE(compare(sample_run(), other_seed).mcnemar_p);
  RunData moved = sample_run();
  moved.truth[0].injected = at_s(241);
  EXPECT_EQ(compare(sample_run(), moved).both, 2U);
}

TEST(Compare, HasNoTestWithoutTruthAndNoFingerprintOfACutRun) {
  RunData cut = sample_run();
  cut.result.fingerprint.clear();
  cut.info.truth_available = false;
  const Comparison c = compare(sample_run(), cut);
  EXPECT_FALSE(c.mcnemar_p);
  EXPECT_FALSE(c.same_fingerprint);
  EXPECT_THAT(comparison_text(c), HasSubstr("fingerprint unknown"));
}

}  // namespace
}  // namespace bonescan
