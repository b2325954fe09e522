#include "tools/gates/judge.h"

#include "tests/support/synthetic_campaign.h"
#include "tools/gates/gate_file.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace bonescan {
namespace {

GateFile gate(const std::string& lines) {
  return parse_gate_file("gates:\n  - name: the gate\n    " + lines + "\n", "gates.yaml");
}

/// `runs` runs of one fault, all found and placed right in a second, without a false alarm.
CampaignData perfect(std::size_t runs) {
  CampaignData data = synthetic_campaign(1,
                                         {.runs = runs,
                                          .recall = 1.0,
                                          .localization = 1.0,
                                          .visible = 1.0,
                                          .false_positive = 0.0,
                                          .rnic_days = kReferenceRnics / 100});
  for (CampaignFault& fault : data.faults) {
    fault.time_to_detect_s = 1.0;
  }
  return data;
}

GateResult judge_one(const std::string& lines,
                     const CampaignData& data,
                     const CampaignData* baseline = nullptr) {
  const GateReport report = judge_campaign(gate(lines), data, baseline);
  EXPECT_EQ(report.results.size(), 1U);
  return report.results.front();
}

/// ln(0.05) / ln(0.993) = 426.5 faults without a miss prove 99.3 %.
TEST(AbsoluteGate, PassesOnlyWithEnoughTrials) {
  const std::string lines = "measure: recall\n    at_least: 99.3%";
  EXPECT_EQ(judge_one(lines, perfect(427)).verdict, GateVerdict::kPassed);
  const GateResult few = judge_one(lines, perfect(426));
  EXPECT_EQ(few.verdict, GateVerdict::kUndecided);
  EXPECT_EQ(few.strata.front().trials_needed, 427U);
}

TEST(AbsoluteGate, FailsWhenTheFigureItselfMisses) {
  CampaignData data = perfect(100);
  lose(data.faults[0]);
  const GateResult result = judge_one("measure: recall\n    at_least: 99.3%", data);
  EXPECT_EQ(result.verdict, GateVerdict::kFailed);
  EXPECT_FALSE(result.strata.front().trials_needed);
}

TEST(AbsoluteGate, SaysThatAPointProvesNothing) {
  const GateResult result =
      judge_one("measure: recall\n    at_least: 99.3%\n    decided_by: point", perfect(3));
  EXPECT_EQ(result.verdict, GateVerdict::kPassed);
  EXPECT_THAT(result.interval, testing::HasSubstr("proves nothing"));
}

/// A hundred runs are one fleet-day; none in a day allows 3.0 a day, none in seven 0.43.
TEST(AbsoluteGate, BoundsFalseAlarmsByPoisson) {
  const std::string lines = "measure: false_alarms_per_fleet_day\n    at_most: 0.5";
  const GateResult day = judge_one(lines, perfect(100));
  EXPECT_EQ(day.verdict, GateVerdict::kUndecided);
  EXPECT_NEAR(*day.strata.front().decisive, -std::log(0.05), 1e-9);
  EXPECT_NEAR(static_cast<double>(*day.strata.front().trials_needed), 600.0, 1.0);
  EXPECT_EQ(judge_one(lines, perfect(700)).verdict, GateVerdict::kPassed);
}

/// 26.2 / (26.2 + a) >= 98.2 % needs a <= 0.480 with recall close to one.
TEST(AbsoluteGate, RestatesPrecisionAtItsBound) {
  const std::string lines = "measure: precision_restated\n    at_least: 98.2%";
  EXPECT_EQ(judge_one(lines, perfect(600)).verdict, GateVerdict::kUndecided);
  EXPECT_EQ(judge_one(lines, perfect(800)).verdict, GateVerdict::kPassed);
}

TEST(AbsoluteGate, ReportsTheWorstKind) {
  CampaignData data = perfect(600);
  for (CampaignFault& fault : data.faults) {
    if (fault.kind == "gid-change" && fault.seed % 3 == 0) {
      lose(fault);
    }
  }
  const GateResult result =
      judge_one("measure: recall\n    on: each kind\n    at_least: 90%", data);
  EXPECT_EQ(result.verdict, GateVerdict::kFailed);
  EXPECT_EQ(result.strata.size(), 6U);
  EXPECT_EQ(result.strata.front().stratum, "gid-change");
  EXPECT_EQ(result.strata.back().verdict, GateVerdict::kPassed);
}

/// Of the passed ones the worst comes first as well.
TEST(AbsoluteGate, OrdersPassedStrataByTheirBounds) {
  const GateResult result =
      judge_one("measure: recall\n    on: each kind\n    at_least: 50%", perfect(600));
  EXPECT_EQ(result.verdict, GateVerdict::kPassed);
  for (std::size_t i = 1; i < result.strata.size(); ++i) {
    EXPECT_LE(*result.strata[i - 1].decisive, *result.strata[i].decisive);
  }
}

TEST(AbsoluteGate, AStratumWithoutATrialIsNotJudged) {
  CampaignData data = perfect(600);
  for (CampaignFault& fault : data.faults) {
    if (fault.kind == "gid-change") {
      fault.visible = false;
    }
  }
  const std::string lines = "measure: recall_visible\n    on: each kind\n    at_least: 90%";
  const GateResult result = judge_one(lines, data);
  EXPECT_EQ(result.verdict, GateVerdict::kPassed);
  EXPECT_EQ(result.strata.back().verdict, GateVerdict::kNotJudged);
  EXPECT_THAT(result.strata.back().reason, testing::HasSubstr("0 visible"));
  for (CampaignFault& fault : data.faults) {
    fault.visible = false;
  }
  EXPECT_EQ(judge_one(lines, data).verdict, GateVerdict::kUndecided);
}

TEST(AbsoluteGate, AKindThatIsNotThereIsUndecided) {
  const GateResult result =
      judge_one("measure: recall\n    on: kind no-such\n    at_least: 1%", perfect(600));
  EXPECT_EQ(result.verdict, GateVerdict::kUndecided);
}

TEST(AbsoluteGate, TimesNeedSeedsForABound) {
  const std::string lines = "measure: time_to_detect_mean\n    at_most: 8s";
  EXPECT_EQ(judge_one(lines, perfect(19)).verdict, GateVerdict::kUndecided);
  EXPECT_EQ(judge_one(lines, perfect(20)).verdict, GateVerdict::kPassed);
  CampaignData slow = perfect(60);
  for (CampaignFault& fault : slow.faults) {
    fault.time_to_detect_s = 9.0;
  }
  EXPECT_EQ(judge_one(lines, slow).verdict, GateVerdict::kFailed);
}

TEST(Unknown, FailedRunsFailTheGateBeyondTheirShare) {
  CampaignData data = perfect(500);
  for (std::size_t i = 0; i < 5; ++i) {
    data.runs[i].failure = "no place";
  }
  const std::string lines = "measure: recall\n    at_least: 90%";
  EXPECT_EQ(judge_one(lines, data).verdict, GateVerdict::kPassed);
  data.runs[5].failure = "no place";
  const GateResult result = judge_one(lines, data);
  EXPECT_EQ(result.verdict, GateVerdict::kFailed);
  EXPECT_EQ(result.unknown.failed_runs, 6U);
  EXPECT_EQ(result.strata.front().trials, 494U);
}

TEST(Unknown, UndecidedFaultsAreNeitherFoundNorMissed) {
  CampaignData data = perfect(500);
  for (std::size_t i = 0; i < 6; ++i) {
    data.faults[i].status = FaultStatus::kUndecided;
  }
  EXPECT_EQ(judge_one("measure: recall\n    at_least: 90%", data).verdict, GateVerdict::kFailed);
  EXPECT_EQ(judge_one("measure: recall\n    at_least: 90%\n    unknown_at_most: 5%", data).verdict,
            GateVerdict::kPassed);
}

TEST(Unknown, AnEmptyCampaignIsAnError) {
  EXPECT_THROW(judge_one("measure: recall\n    at_least: 1%", CampaignData{}), ConfigError);
}

TEST(Needs, AMissingSchemeIsSaidWithThoseThatAreThere) {
  try {
    judge_one("measure: recall\n    scheme: paper\n    at_least: 1%", perfect(5));
    ADD_FAILURE();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("gates.yaml:2:11: gates[0].scheme"));
    EXPECT_THAT(error.what(), testing::HasSubstr("it has bonescan"));
  }
}

TEST(Needs, AMarginNeedsABaselineOfTheSameCampaign) {
  const CampaignData data = perfect(5);
  EXPECT_THROW(judge_one("measure: recall\n    margin: 2%", data), ConfigError);
  CampaignData other = data;
  other.file_hash = "other";
  EXPECT_THROW(judge_one("measure: recall\n    margin: 2%", data, &other), ConfigError);
}

/// Tango: 4 losses of 500 leave -1.77 %, 5 leave -2.04 %.
TEST(PairedGate, TheFifthLossOfFiveHundredTurnsItRed) {
  const CampaignData baseline = perfect(500);
  CampaignData candidate = baseline;
  for (std::size_t i = 0; i < 4; ++i) {
    lose(candidate.faults[i * 50]);
  }
  const std::string lines = "measure: recall\n    margin: 2%";
  const GateResult four = judge_one(lines, candidate, &baseline);
  EXPECT_EQ(four.verdict, GateVerdict::kPassed);
  EXPECT_NEAR(*four.strata.front().decisive, -0.0176994, 1e-6);
  EXPECT_EQ(four.strata.front().pairs->only_first, 4U);
  lose(candidate.faults[400]);
  const GateResult five = judge_one(lines, candidate, &baseline);
  EXPECT_EQ(five.verdict, GateVerdict::kFailed);
  EXPECT_NEAR(*five.strata.front().mcnemar_p, 0.0625, 1e-12);
}

/// z^2 (1 / d - 1) = 132.6 pairs that agree exclude a loss of 2 %.
TEST(PairedGate, FewPairsThatAgreeAreUndecided) {
  const std::string lines = "measure: recall\n    margin: 2%";
  const CampaignData few = perfect(132);
  const GateResult result = judge_one(lines, few, &few);
  EXPECT_EQ(result.verdict, GateVerdict::kUndecided);
  EXPECT_EQ(result.strata.front().trials_needed, 133U);
  const CampaignData enough = perfect(133);
  EXPECT_EQ(judge_one(lines, enough, &enough).verdict, GateVerdict::kPassed);
}

TEST(PairedGate, GainsMakeUpForLossesOnlyInTheDifference) {
  CampaignData baseline = perfect(500);
  CampaignData candidate = baseline;
  for (std::size_t i = 0; i < 6; ++i) {
    lose(candidate.faults[i]);
    lose(baseline.faults[100 + i]);
  }
  const GateReport report =
      judge_campaign(gate("measure: recall\n    margin: 2%"), candidate, &baseline);
  EXPECT_EQ(report.results.front().verdict, GateVerdict::kPassed);
  EXPECT_EQ(report.lost.size(), 6U);
  EXPECT_EQ(report.gained, 6U);
}

TEST(PairedGate, ATestFindsProvenLossesOnly) {
  const CampaignData baseline = perfect(100);
  CampaignData candidate = baseline;
  for (std::size_t i = 0; i < 5; ++i) {
    lose(candidate.faults[i]);
  }
  const std::string lines = "measure: recall\n    significance: 5%";
  EXPECT_EQ(judge_one(lines, candidate, &baseline).verdict, GateVerdict::kPassed);
  lose(candidate.faults[5]);
  EXPECT_EQ(judge_one(lines, candidate, &baseline).verdict, GateVerdict::kFailed);
  EXPECT_EQ(judge_one(lines, baseline, &candidate).verdict, GateVerdict::kPassed);
}

TEST(PairedGate, MoreFalseAlarmsAreProvenRunByRun) {
  const CampaignData baseline = perfect(100);
  CampaignData candidate = baseline;
  for (std::size_t i = 0; i < 6; ++i) {
    candidate.runs[i].false_positives = 1;
  }
  const std::string lines = "measure: false_alarms_per_fleet_day\n    significance: 5%";
  const GateResult worse = judge_one(lines, candidate, &baseline);
  EXPECT_EQ(worse.verdict, GateVerdict::kFailed);
  EXPECT_NEAR(*worse.strata.front().estimate.value, 6.0, 1e-9);
  EXPECT_EQ(judge_one(lines, baseline, &candidate).verdict, GateVerdict::kPassed);
}

TEST(PairedGate, LocalizationIsComparedWhereBothFound) {
  const CampaignData baseline = perfect(500);
  CampaignData candidate = baseline;
  lose(candidate.faults[0]);
  for (std::size_t i = 1; i <= 20; ++i) {
    candidate.faults[i].placement = Placement::kAbstained;
  }
  const GateReport report =
      judge_campaign(gate("measure: localization\n    margin: 2%"), candidate, &baseline);
  const GateResult& result = report.results.front();
  EXPECT_EQ(result.verdict, GateVerdict::kFailed);
  EXPECT_EQ(result.strata.front().trials, 499U);
  EXPECT_EQ(report.lost.size(), 21U);
  EXPECT_TRUE(report.lost.back().was_placed);
}

TEST(PairedGate, DelaysAreComparedSeedBySeed) {
  CampaignData baseline = synthetic_campaign(1, {.runs = 300, .recall = 1.0});
  CampaignData candidate = baseline;
  for (CampaignFault& fault : candidate.faults) {
    *fault.time_to_detect_s += 0.3;
  }
  for (const char* measure : {"time_to_detect_mean", "time_to_detect_median"}) {
    SCOPED_TRACE(measure);
    const std::string base = std::string("measure: ") + measure + "\n    margin: ";
    const GateResult result = judge_one(base + "400ms", candidate, &baseline);
    EXPECT_EQ(result.verdict, GateVerdict::kPassed);
    // The noise of the delays is common to both sides and cancels.
    EXPECT_NEAR(*result.strata.front().estimate.value, 0.3, 1e-9);
    EXPECT_NEAR(*result.strata.front().decisive, 0.3, 1e-9);
    EXPECT_EQ(judge_one(base + "200ms", candidate, &baseline).verdict, GateVerdict::kFailed);
  }
}

TEST(Pairing, CountsWhatHasNoPartner) {
  CampaignData baseline = perfect(100);
  CampaignData candidate = baseline;
  candidate.faults.erase(candidate.faults.begin());
  candidate.faults[10].kind = "another";
  candidate.faults[20].status = FaultStatus::kUndecided;
  baseline.runs[50].failure = "killed";
  candidate.runs.pop_back();
  const PairingGaps gaps = pair_campaigns(baseline, "bonescan", candidate, "bonescan").gaps;
  EXPECT_EQ(gaps.runs, 100U);
  EXPECT_EQ(gaps.runs_missing, 2U);
  EXPECT_EQ(gaps.faults, 100U);
  EXPECT_EQ(gaps.faults_missing, 3U);
  EXPECT_EQ(gaps.other_faults, 1U);
  EXPECT_EQ(gaps.undecided, 1U);
  EXPECT_NEAR(gaps.share(), 0.05, 1e-12);
}

TEST(Pairing, MissingPairsFailTheGate) {
  const CampaignData baseline = perfect(500);
  CampaignData candidate = baseline;
  candidate.faults.resize(490);
  EXPECT_EQ(judge_one("measure: recall\n    margin: 2%", candidate, &baseline).verdict,
            GateVerdict::kFailed);
}

TEST(Pairing, DeathsOfAgentsAreNoFaults) {
  CampaignData data = perfect(10);
  data.faults[0].status = FaultStatus::kAgentDeath;
  const Pairing pairing = pair_campaigns(data, "bonescan", data, "bonescan");
  EXPECT_EQ(pairing.faults.size(), 9U);
  EXPECT_EQ(pairing.gaps.share(), 0.0);
}

}  // namespace
}  // namespace bonescan
