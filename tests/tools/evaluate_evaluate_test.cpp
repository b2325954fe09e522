#include "tools/evaluate/evaluate.h"

#include "tests/support/run_data_builder.h"

#include <cmath>

namespace bonescan {
namespace {

TEST(Evaluate, FindsOneFaultByOneIncident) {
  RunDataBuilder b;
  b.fault("crc", {.injected_s = 100});
  b.incident({.opened_s = 106.5});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.faults[0].status, FaultStatus::kDetected);
  EXPECT_EQ(e.faults[0].incident, 0U);
  EXPECT_DOUBLE_EQ(e.faults[0].time_to_detect_s.value(), 6.5);
  EXPECT_EQ(e.incidents[0].status, IncidentStatus::kMatched);
  EXPECT_EQ(e.detection->true_positives, 1U);
  EXPECT_DOUBLE_EQ(e.detection->precision.value.value(), 1.0);
  EXPECT_DOUBLE_EQ(e.detection->recall.value.value(), 1.0);
  EXPECT_EQ(e.localization->correct, 1U);
}

TEST(Evaluate, MatchesOnlyInsideTheWindowAndOnASharedPair) {
  struct Case {
    const char* name;
    double opened_s;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    FaultStatus fault;
    IncidentStatus incident;
    bool late;
  };
  using F = FaultStatus;
  using I = IncidentStatus;
  const std::vector<Case> cases = {
      {"at time zero", 100, {{0, 8}}, F::kDetected, I::kMatched, false},
      {"just before", 99.9, {{0, 8}}, F::kMissed, I::kFalsePositive, false},
      {"at the deadline", 170, {{0, 8}}, F::kDetected, I::kMatched, false},
      {"after the deadline, fault over", 300, {{0, 8}}, F::kMissed, I::kFalsePositive, false},
      {"after the deadline, symptom lasts", 171, {{0, 8}}, F::kMissed, I::kFalsePositive, true},
      {"the other way round", 110, {{8, 0}}, F::kDetected, I::kMatched, false},
      {"one shared pair of two", 110, {{1, 9}, {0, 8}}, F::kDetected, I::kMatched, false},
      {"other pairs", 110, {{1, 9}, {0, 9}}, F::kMissed, I::kFalsePositive, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RunDataBuilder b;
    b.fault("crc", {.injected_s = 100});
    b.incident({.opened_s = c.opened_s, .pairs = c.pairs});
    const Evaluation e = evaluate(b.run);
    EXPECT_EQ(e.faults[0].status, c.fault);
    EXPECT_EQ(e.incidents[0].status, c.incident);
    EXPECT_EQ(e.incidents[0].late, c.late);
    EXPECT_EQ(e.detection->late, c.late ? 1U : 0U);
  }
}

TEST(Evaluate, FindsWhatOnlyAHostTellsByTheHostItNames) {
  struct Case {
    const char* name;
    const char* rnic;
    double opened_s;
    Layer layer;
    FaultStatus fault;
    IncidentStatus incident;
  };
  using F = FaultStatus;
  using I = IncidentStatus;
  const std::vector<Case> cases = {
      {"its RNIC", "host-0.00/rnic-1", 400, Layer::kHost, F::kDetected, I::kMatched},
      {"another RNIC of its host",
       "host-0.00/rnic-2",
       400,
       Layer::kHost,
       F::kDetected,
       I::kMatched},
      {"another host", "host-0.01/rnic-1", 400, Layer::kHost, F::kMissed, I::kFalsePositive},
      {"before it", "host-0.00/rnic-1", 99, Layer::kHost, F::kMissed, I::kFalsePositive},
      {"no finding of a host",
       "host-0.00/rnic-1",
       400,
       Layer::kRnic,
       F::kMissed,
       I::kFalsePositive},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RunDataBuilder b;
    TruthRow& truth = b.fault("lanes",
                              {.injected_s = 100,
                               .type = ComponentType::kRnic,
                               .component = "host-0.00/rnic-1",
                               .layer = Layer::kRnic});
    truth.visible = false;
    truth.host_visible = true;
    truth.time_zero.reset();
    truth.pairs.clear();
    truth.ended.reset();
    b.incident({.opened_s = c.opened_s,
                .layer = c.layer,
                .candidates = {{ComponentType::kRnic, c.rnic}},
                .pairs = {}});
    const Evaluation e = evaluate(b.run);
    EXPECT_EQ(e.faults[0].status, c.fault);
    EXPECT_TRUE(e.faults[0].by_host);
    EXPECT_EQ(e.incidents[0].status, c.incident);
    EXPECT_EQ(e.detection->recall_host_visible.trials, 1U);
    EXPECT_EQ(e.detection->recall_visible.trials, 0U);
    EXPECT_FALSE(e.detection->time_to_detect.mean_s.has_value());
    const bool right = c.fault == F::kDetected && std::string(c.rnic) == "host-0.00/rnic-1";
    EXPECT_EQ(e.localization->correct, right ? 1U : 0U);
  }
}

// Probes found it; what its host says of the same thing later is no second failure.
TEST(Evaluate, TakesAHostsFindingAboutAFoundFaultForARepetition) {
  RunDataBuilder b;
  b.fault("gid",
          {.injected_s = 100,
           .type = ComponentType::kRnic,
           .component = "host-0.00/rnic-1",
           .layer = Layer::kRnic})
      .host_visible = true;
  b.incident({.opened_s = 102});
  b.incident({.opened_s = 108,
              .layer = Layer::kHost,
              .candidates = {{ComponentType::kRnic, "host-0.00/rnic-1"}},
              .pairs = {}});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.incidents[0].status, IncidentStatus::kMatched);
  EXPECT_EQ(e.incidents[1].status, IncidentStatus::kDuplicate);
  EXPECT_EQ(e.detection->false_positives, 0U);
}

TEST(Evaluate, KnowsTheHostThatANameBeginsWith) {
  EXPECT_EQ(host_in("host-1.01/rnic-2"), "host-1.01");
  EXPECT_EQ(host_in("host-1.01"), "host-1.01");
  EXPECT_EQ(host_in("link(host-1.01/rnic-2/port-1, tor-1.2)"), "host-1.01");
  EXPECT_EQ(host_in("link(tor-1.2, agg-0)"), "");
}

TEST(Evaluate, CountsDelayFromTimeZeroAndNotFromInjection) {
  RunDataBuilder b;
  b.fault("stale", {.injected_s = 100}).time_zero = at_s(110);
  b.incident({.opened_s = 112});
  EXPECT_DOUBLE_EQ(evaluate(b.run).detection->time_to_detect.mean_s.value(), 2.0);
}

TEST(Evaluate, DeadlineFollowsSweepWindowAndInformationBound) {
  struct Case {
    const char* name;
    double sweep_s;
    Symptom symptom;
    double bound_s;
    double expected_s;
    bool gray;
  };
  const std::vector<Case> cases = {
      {"floor needs a short window", 0.1, Symptom::kLoss, 1, 30.2, false},
      {"two sweeps and a window", 63, Symptom::kLoss, 1, 156, false},
      {"gray loss", 20, Symptom::kLoss, 100, 300, true},
      {"a loss that can be seen in time", 20, Symptom::kLoss, 20, 70, false},
      {"latency is never gray loss", 20, Symptom::kLatency, 100, 70, false},
      {"no finite bound", 20, Symptom::kLoss, INFINITY, 365.0 * 86400, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    RunDataBuilder b;
    b.run.result.sweep_s = c.sweep_s;
    b.fault("f", {.symptom = c.symptom}).information_bound_s = c.bound_s;
    const Evaluation e = evaluate(b.run);
    EXPECT_NEAR(seconds(e.faults[0].deadline), c.expected_s, 1e-6);
    EXPECT_EQ(e.faults[0].gray, c.gray);
  }
}

TEST(Evaluate, DeadlineIsNeverBelowThirtySeconds) {
  RunDataBuilder b;
  b.run.info.window = std::chrono::seconds(5);
  b.run.result.sweep_s = 1;
  EXPECT_EQ(evaluate(b.run).matching.abrupt_deadline, Duration(std::chrono::seconds(30)));
}

TEST(Evaluate, CountsTheSweepOfAKilledRunFromItsPairs) {
  RunDataBuilder b;
  b.run.result.sweep_s = 0;
  for (std::uint32_t target = 1; target <= 25; ++target) {
    b.pair(0, target);
  }
  EXPECT_EQ(evaluate(b.run).matching.abrupt_deadline, Duration(std::chrono::seconds(80)));
}

TEST(Evaluate, SetsPlannedWorkAside) {
  RunDataBuilder b;
  b.fault("f", {.injected_s = 300});
  b.incident({.opened_s = 100}).planned = true;  // would be a false alarm
  b.incident({.opened_s = 302}).planned = true;  // would find the fault
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.incidents[0].status, IncidentStatus::kPlanned);
  EXPECT_EQ(e.incidents[1].status, IncidentStatus::kPlanned);
  EXPECT_EQ(e.faults[0].status, FaultStatus::kMissed);
  EXPECT_EQ(e.detection->planned, 2U);
  EXPECT_EQ(e.detection->false_positives, 0U);
  EXPECT_EQ(e.detection->false_negatives, 1U);
}

TEST(Evaluate, OneIncidentFindsOneOfTwoFaults) {
  RunDataBuilder b;
  b.fault("early", {.injected_s = 100});
  b.fault("later", {.injected_s = 105});
  b.incident({.opened_s = 110});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.detection->true_positives, 1U);
  EXPECT_EQ(e.detection->false_negatives, 1U);
  EXPECT_EQ(e.faults[1].status, FaultStatus::kDetected) << "the smaller delay wins";
}

TEST(Evaluate, SecondIncidentOfOneFaultIsADuplicate) {
  RunDataBuilder b;
  b.fault("port", {.injected_s = 100});
  b.incident({.opened_s = 105});
  b.incident({.opened_s = 120, .candidates = {{ComponentType::kSwitch, "tor-0.0"}}});
  b.incident({.opened_s = 229, .candidates = {{ComponentType::kSwitch, "agg-0"}}});
  b.incident({.opened_s = 231, .candidates = {{ComponentType::kSwitch, "agg-1"}}});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.incidents[0].status, IncidentStatus::kMatched);
  EXPECT_EQ(e.incidents[1].status, IncidentStatus::kDuplicate);
  EXPECT_EQ(e.incidents[1].fault, 0U);
  EXPECT_EQ(e.incidents[2].status, IncidentStatus::kDuplicate) << "end + deadline is 230 s";
  EXPECT_EQ(e.incidents[3].status, IncidentStatus::kFalsePositive);
  EXPECT_EQ(e.detection->duplicates, 2U);
  EXPECT_DOUBLE_EQ(e.detection->precision.value.value(), 0.5) << "duplicates are in no ratio";
}

TEST(Evaluate, FlapSeriesIsOneIncident) {
  RunDataBuilder b;
  b.fault("flap", {.injected_s = 100});
  b.incident({.opened_s = 105});
  b.incident({.opened_s = 194.9});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.incidents[1].status, IncidentStatus::kMerged);
  EXPECT_EQ(e.incidents[1].merged_into, 0U);
  EXPECT_EQ(e.detection->merged, 1U);
  EXPECT_EQ(e.detection->duplicates, 0U);
}

TEST(Evaluate, MergedIncidentOpensWhenItsFirstDoes) {
  // No grace before time zero: an alarm that stood before the fault did not find it.
  RunDataBuilder b;
  b.fault("crc", {.injected_s = 100});
  b.incident({.opened_s = 60});
  b.incident({.opened_s = 105});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.detection->false_positives, 1U);
  EXPECT_EQ(e.detection->false_negatives, 1U);
}

TEST(Evaluate, AgentDeathIsAClassOfItsOwn) {
  RunDataBuilder b;
  b.fault("crc", {.injected_s = 100});
  b.incident({.opened_s = 105,
              .layer = Layer::kAgent,
              .candidates = {{ComponentType::kAgent, "host-0.00/agent"}}});
  b.incident({.opened_s = 900,
              .layer = Layer::kAgent,
              .candidates = {{ComponentType::kAgent, "host-0.01/agent"}}});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.detection->agent_deaths, 2U);
  EXPECT_EQ(e.detection->false_positives, 0U);
  EXPECT_EQ(e.detection->true_positives, 0U);
  EXPECT_EQ(e.detection->false_negatives, 1U) << "it may not hide a fault";
  EXPECT_EQ(e.detection->hidden_by_agent_death, 1U);
}

TEST(Evaluate, AgentDeathCalledANetworkFaultIsAFalsePositive) {
  RunDataBuilder b;
  b.fault("crash",
          {.injected_s = 100,
           .type = ComponentType::kAgent,
           .component = "host-0.00/agent",
           .layer = Layer::kAgent});
  b.incident({.opened_s = 105});
  b.incident({.opened_s = 106,
              .layer = Layer::kAgent,
              .candidates = {{ComponentType::kAgent, "host-0.00/agent"}}});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.faults[0].status, FaultStatus::kAgentDeath);
  EXPECT_EQ(e.faults[0].incident, 1U);
  EXPECT_EQ(e.detection->faults, 0U);
  EXPECT_EQ(e.detection->false_positives, 1U);
  EXPECT_EQ(e.incidents[1].status, IncidentStatus::kAgentDeath);
}

TEST(Evaluate, CutRunLeavesYoungFaultsUndecided) {
  RunDataBuilder b;
  b.run.result.complete = false;
  b.run.result.reached = at_s(300);
  b.fault("old", {.injected_s = 100});
  b.fault("just old enough", {.injected_s = 229});
  b.fault("young", {.injected_s = 230});
  b.fault("young but found", {.injected_s = 290}).pairs = {{b.endpoint(1), b.endpoint(9)}};
  TruthRow& silent = b.fault("nothing seen yet", {.injected_s = 200});
  silent.time_zero.reset();
  silent.pairs.clear();
  b.fault("not yet injected", {.injected_s = 300});
  b.incident({.opened_s = 295, .pairs = {{1, 9}}});
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.faults[0].status, FaultStatus::kMissed);
  EXPECT_EQ(e.faults[1].status, FaultStatus::kMissed);
  EXPECT_EQ(e.faults[2].status, FaultStatus::kUndecided);
  EXPECT_EQ(e.faults[3].status, FaultStatus::kDetected);
  EXPECT_EQ(e.faults[4].status, FaultStatus::kUndecided);
  EXPECT_EQ(e.faults[5].status, FaultStatus::kUndecided);
  EXPECT_EQ(e.detection->faults, 3U);
  EXPECT_EQ(e.detection->undecided, 3U);
  EXPECT_NEAR(e.detection->recall.value.value(), 1.0 / 3, 1e-12);
}

TEST(Evaluate, IncidentOfAFaultWithoutTimeZeroIsUndecidedOnlyInACutRun) {
  for (const bool complete : {false, true}) {
    SCOPED_TRACE(complete);
    RunDataBuilder b;
    b.run.result.complete = complete;
    b.fault("slow to act", {.injected_s = 100}).time_zero.reset();
    b.incident({.opened_s = 110});
    const Evaluation e = evaluate(b.run);
    EXPECT_EQ(e.incidents[0].status,
              complete ? IncidentStatus::kFalsePositive : IncidentStatus::kUndecided);
    EXPECT_EQ(e.detection->undecided_incidents, complete ? 0U : 1U);
  }
}

TEST(Evaluate, InvisibleFaultLowersRecallButNotVisibleRecall) {
  RunDataBuilder b;
  b.fault("seen", {.injected_s = 100});
  TruthRow& silent = b.fault("no path crosses it", {.injected_s = 500});
  silent.visible = false;
  silent.time_zero.reset();
  silent.pairs.clear();
  b.incident({.opened_s = 105});
  const DetectionScore d = evaluate(b.run).detection.value();
  EXPECT_EQ(d.faults, 2U);
  EXPECT_EQ(d.visible, 1U);
  EXPECT_DOUBLE_EQ(d.recall.value.value(), 0.5);
  EXPECT_DOUBLE_EQ(d.recall_visible.value.value(), 1.0);
}

TEST(Evaluate, NoFaultsGiveUndefinedRatiosAndAFalseAlarmBound) {
  RunDataBuilder b;
  b.run.result.reached = at_s(86400);
  const Evaluation e = evaluate(b.run);
  EXPECT_FALSE(e.detection->precision.value);
  EXPECT_FALSE(e.detection->recall.value);
  EXPECT_FALSE(e.detection->recall.wilson95);
  EXPECT_FALSE(e.detection->time_to_detect.mean_s);
  EXPECT_FALSE(e.detection->time_to_detect.mean_with_misses_s);
  EXPECT_FALSE(e.detection->restated.value);
  EXPECT_FALSE(e.localization->accuracy.value);
  EXPECT_FALSE(e.localization->top1);
  EXPECT_DOUBLE_EQ(e.detection->false_alarms_per_day.value(), 0.0);
  EXPECT_NEAR(e.detection->false_alarms_per_day_upper95.value(), 2.9957322735539909, 1e-9);
}

TEST(Evaluate, NothingIsScoredWithoutTruth) {
  RunDataBuilder b;
  b.run.info.truth_available = false;
  b.incident({.opened_s = 105});
  const Evaluation e = evaluate(b.run);
  EXPECT_FALSE(e.detection);
  EXPECT_FALSE(e.localization);
  EXPECT_EQ(e.incidents[0].status, IncidentStatus::kUndecided);
}

TEST(Evaluate, EmptyCutRunHasNoExposure) {
  RunDataBuilder b;
  b.run.result = {};
  const DetectionScore d = evaluate(b.run).detection.value();
  EXPECT_FALSE(d.false_alarms_per_day);
  EXPECT_FALSE(d.false_alarms_per_day_upper95);
  EXPECT_FALSE(d.false_alarms_per_reference_day);
}

TEST(Evaluate, TimeToDetectLeavesGrayFaultsToTheirKind) {
  RunDataBuilder b;
  b.fault("abrupt", {.injected_s = 100});
  b.fault("missed", {.injected_s = 600}).pairs = {{b.endpoint(2), b.endpoint(10)}};
  b.fault("gray", {.injected_s = 1000, .kind = "gray-link"}).information_bound_s = 100;
  b.incident({.opened_s = 110});
  b.incident({.opened_s = 1200});
  const DetectionScore d = evaluate(b.run).detection.value();
  EXPECT_DOUBLE_EQ(d.time_to_detect.mean_s.value(), 10);
  EXPECT_DOUBLE_EQ(d.time_to_detect.mean_with_misses_s.value(), 35);
  EXPECT_DOUBLE_EQ(d.time_to_detect.information_bound_mean_s.value(), 4);
  ASSERT_EQ(d.by_kind.size(), 2U);
  EXPECT_EQ(d.by_kind[0].name, "crc-error");
  EXPECT_DOUBLE_EQ(d.by_kind[0].recall.value.value(), 0.5);
  EXPECT_EQ(d.by_kind[1].name, "gray-link");
  EXPECT_DOUBLE_EQ(d.by_kind[1].time_to_detect.mean_s.value(), 200);
}

TEST(Evaluate, AnRnicThatCameLaterCountsWhileItLives) {
  RunDataBuilder b;
  b.run.result.reached = at_s(86400);
  b.incident({.opened_s = 50000});
  b.endpoint(9);
  b.run.result.rnics = 10;
  const auto per_day = [&] {
    return evaluate(b.run).detection.value().false_alarms_per_reference_day.value();
  };
  EXPECT_DOUBLE_EQ(per_day(), 32768.0 / 10);
  // Eight throughout, one for a quarter of the day, one from noon on.
  b.run.membership = {{at_s(1), EndpointId(0), MembershipKind::kReady},
                      {at_s(21600), EndpointId(2), MembershipKind::kSubmitted},
                      {at_s(21700), EndpointId(2), MembershipKind::kReady},
                      {at_s(43100), EndpointId(2), MembershipKind::kStopping},
                      {at_s(43200), EndpointId(2), MembershipKind::kGone},
                      {at_s(43200), EndpointId(3), MembershipKind::kSubmitted}};
  EXPECT_DOUBLE_EQ(per_day(), 32768.0 / 8.75);
}

TEST(Evaluate, RestatesPrecisionAtThePaperPrevalence) {
  // One false alarm in one reference day, every fault found: 26.2 / (26.2 + 1).
  RunDataBuilder b;
  b.run.result.reached = at_s(86400);
  b.run.result.rnics = 32768;
  b.fault("crc", {.injected_s = 100});
  b.incident({.opened_s = 105});
  b.incident({.opened_s = 50000});
  const DetectionScore d = evaluate(b.run).detection.value();
  EXPECT_DOUBLE_EQ(d.false_alarms_per_reference_day.value(), 1.0);
  EXPECT_NEAR(d.restated.value.value(), 26.2 / 27.2, 1e-12);
  EXPECT_LT(d.restated.low95.value(), d.restated.value.value());
  EXPECT_DOUBLE_EQ(d.precision.value.value(), 0.5);
}

TEST(Evaluate, AbstentionIsCountedApartAndAsWrong) {
  RunDataBuilder b;
  b.fault("a", {.injected_s = 100});
  b.fault("b", {.injected_s = 600});
  b.incident({.opened_s = 105});
  b.incident({.opened_s = 605, .layer = Layer::kUndetermined, .candidates = {}});
  const LocalizationScore l = evaluate(b.run).localization.value();
  EXPECT_EQ(l.localized, 1U);
  EXPECT_EQ(l.abstained, 1U);
  EXPECT_EQ(l.correct, 1U);
  EXPECT_DOUBLE_EQ(l.accuracy.value.value(), 0.5);
  EXPECT_DOUBLE_EQ(l.set_size_mean.value(), 1.0);
  EXPECT_DOUBLE_EQ(l.top1.value(), 0.5);
}

TEST(Evaluate, IgnoresIdsThatACutFileLost) {
  RunDataBuilder b;
  b.fault("crc", {.injected_s = 100});
  Incident& incident = b.incident({.opened_s = 105});
  incident.pairs.push_back(PairId(999));
  incident.candidates = {{ComponentId(999), 1.0}};
  const Evaluation e = evaluate(b.run);
  EXPECT_EQ(e.faults[0].status, FaultStatus::kDetected);
  EXPECT_EQ(e.faults[0].placement.placement, Placement::kAbstained);
}

}  // namespace
}  // namespace bonescan
