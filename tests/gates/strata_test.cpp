#include "tools/gates/strata.h"

#include "tests/support/synthetic_campaign.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

CampaignFault decided_fault(std::uint64_t seed, std::string kind, FaultStatus status) {
  CampaignFault fault = fault_of(seed, "bonescan");
  fault.kind = std::move(kind);
  fault.status = status;
  fault.visible = true;
  if (status == FaultStatus::kDetected) {
    fault.time_to_detect_s = static_cast<double>(seed);
    fault.placement = Placement::kCorrect;
  }
  return fault;
}

/// Ten runs with a fault each.
CampaignData small_campaign() {
  CampaignData data;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CampaignRun run = run_of(seed, "bonescan");
    run.rnic_days = 3276.8;
    data.runs.push_back(run);
    data.faults.push_back(
        decided_fault(seed, seed <= 6 ? "crc-error" : "gid-change", FaultStatus::kDetected));
  }
  return data;
}

TEST(Strata, CountWhatBecameOfEachFault) {
  CampaignData data = small_campaign();
  lose(data.faults[0]);
  data.faults[1].placement = Placement::kWrong;
  data.faults[2].placement = Placement::kAbstained;
  data.faults[3].status = FaultStatus::kUndecided;
  data.faults[4].status = FaultStatus::kAgentDeath;
  data.faults[5].visible = false;
  const CampaignFigures figures = figures_of(data, "bonescan");
  EXPECT_EQ(figures.all.faults, 8U);
  EXPECT_EQ(figures.all.found, 7U);
  EXPECT_EQ(figures.all.missed, 1U);
  EXPECT_EQ(figures.all.visible, 7U);
  EXPECT_EQ(figures.all.missed_visible, 1U);
  EXPECT_EQ(figures.all.undecided, 1U);
  EXPECT_EQ(figures.all.agent_deaths, 1U);
  EXPECT_EQ(figures.all.localization.successes, 5U);
  EXPECT_EQ(figures.all.localization.trials, 7U);
  EXPECT_NEAR(*figures.all.recall.ratio.value, 7.0 / 8, 1e-12);
  EXPECT_NEAR(*figures.all.recall_visible.ratio.value, 6.0 / 7, 1e-12);
}

TEST(Strata, ARunThatFailedGivesNeitherFaultsNorExposure) {
  CampaignData data = small_campaign();
  data.runs[0].failure = "no place for the fault";
  data.runs[0].false_positives = 9;
  const CampaignFigures figures = figures_of(data, "bonescan");
  EXPECT_EQ(figures.failed_runs, 1U);
  EXPECT_EQ(figures.runs, 9U);
  EXPECT_EQ(figures.all.faults, 9U);
  EXPECT_EQ(figures.false_positives, 0U);
  EXPECT_NEAR(figures.rnic_days, 9 * 3276.8, 1e-9);
}

/// Ten runs of a tenth of a fleet-day: one fleet-day.
TEST(Strata, FalseAlarmsAreStatedPerFleetDay) {
  CampaignData data = small_campaign();
  data.runs[3].false_positives = 2;
  const CampaignFigures figures = figures_of(data, "bonescan");
  EXPECT_NEAR(*figures.false_alarms_per_fleet_day.value, 2.0, 1e-9);
  EXPECT_NEAR(*figures.precision.ratio.value, 10.0 / 12, 1e-12);
  EXPECT_NEAR(*figures.precision_restated.value, 26.2 / 28.2, 1e-9);
  EXPECT_LT(*figures.precision_restated.lower, *figures.precision_restated.value);
}

TEST(Strata, OtherSchemesAreLeftOut) {
  CampaignData data = small_campaign();
  for (std::size_t i = 0; i < 10; ++i) {
    CampaignFault fault = data.faults[i];
    fault.scheme = "paper";
    lose(fault);
    data.faults.push_back(fault);
  }
  EXPECT_EQ(figures_of(data, "bonescan").all.missed, 0U);
  EXPECT_EQ(figures_of(data, "paper").all.missed, 10U);
}

TEST(Strata, KindsComeByNameWithTheirOwnFigures) {
  CampaignData data = small_campaign();
  lose(data.faults[9]);
  const std::vector<Stratum> kinds = strata_of(data, "bonescan", StratifyBy::kKind);
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].name, "crc-error");
  EXPECT_EQ(kinds[0].faults, 6U);
  EXPECT_EQ(kinds[0].missed, 0U);
  EXPECT_NEAR(*kinds[0].time_to_detect.mean_s.value, 3.5, 1e-12);
  EXPECT_EQ(kinds[1].name, "gid-change");
  EXPECT_EQ(kinds[1].missed, 1U);
  EXPECT_NEAR(*kinds[1].time_to_detect.mean_s.value, 8.0, 1e-12);
  EXPECT_NEAR(*kinds[1].time_to_detect.mean_with_misses_s.value, (7 + 8 + 9 + 60) / 4.0, 1e-12);
}

/// As in tools/evaluate/METHODS.md: the overall delay is over abrupt faults.
TEST(Strata, GrayFaultsCountInDelaysOfStrataOnly) {
  CampaignData data = small_campaign();
  data.faults[5].gray = true;
  data.faults[5].time_to_detect_s = 1000.0;
  EXPECT_NEAR(*figures_of(data, "bonescan").all.time_to_detect.mean_s.value, 49.0 / 9, 1e-12);
  EXPECT_NEAR(*strata_of(data, "bonescan", StratifyBy::kKind)[0].time_to_detect.mean_s.value,
              1015.0 / 6,
              1e-9);
}

TEST(Strata, FaultsThatOnlyTheirHostShowsAreInNoOverallDelay) {
  CampaignData data = small_campaign();
  data.faults[9].visible = false;
  data.faults[9].host_visible = true;
  const Stratum all = figures_of(data, "bonescan").all;
  EXPECT_NEAR(*all.time_to_detect.mean_s.value, 5.0, 1e-12);
  EXPECT_EQ(all.host_visible, 1U);
  EXPECT_NEAR(*all.recall_host_visible.ratio.value, 1.0, 1e-12);
}

TEST(Strata, ClassesAreTheHeadingsOfTheCatalog) {
  CampaignData data = small_campaign();
  data.faults[0].kind = "no such kind";
  const std::vector<Stratum> classes = strata_of(data, "bonescan", StratifyBy::kClass);
  ASSERT_FALSE(classes.empty());
  EXPECT_TRUE(std::any_of(
      classes.begin(), classes.end(), [](const Stratum& s) { return s.name == "other"; }));
}

TEST(Strata, SeedsCanBeChosen) {
  EXPECT_EQ(with_seeds(small_campaign(), SeedChoice::kOdd).faults.size(), 5U);
  EXPECT_EQ(with_seeds(small_campaign(), SeedChoice::kEven).runs.front().seed, 2U);
  EXPECT_EQ(with_seeds(small_campaign(), SeedChoice::kAll).runs.size(), 10U);
}

TEST(Mix, WeighsKindsByTheirShares) {
  CampaignData data = small_campaign();
  lose(data.faults[9]);
  const MixFigures mix = mix_of(data, "bonescan", {{"crc-error", 9.0}, {"gid-change", 1.0}});
  EXPECT_TRUE(mix.missing.empty());
  EXPECT_NEAR(*mix.recall.value, 0.9 * 1.0 + 0.1 * 0.75, 1e-12);
  EXPECT_LT(*mix.recall.lower, *mix.recall.value);
  EXPECT_NEAR(*mix.localization.value, 1.0, 1e-12);
}

/// One kind with all the weight is that kind.
TEST(Mix, OfOneKindHasTheBoundsOfTheKind) {
  CampaignData data = small_campaign();
  const MixFigures mix = mix_of(data, "bonescan", {{"crc-error", 2.0}, {"gid-change", 0.0}});
  EXPECT_NEAR(*mix.recall.lower, std::pow(0.05, 1.0 / 6), 1e-12);
  EXPECT_EQ(mix.unused, std::vector<std::string>{"gid-change"});
}

TEST(Mix, IsUndefinedWhenAKindWasNeverTried) {
  const MixFigures mix =
      mix_of(small_campaign(), "bonescan", {{"crc-error", 1.0}, {"switch-offline", 0.1}});
  EXPECT_EQ(mix.missing, std::vector<std::string>{"switch-offline"});
  EXPECT_FALSE(mix.recall.value);
  EXPECT_FALSE(mix.precision_restated.value);
}

}  // namespace
}  // namespace bonescan
