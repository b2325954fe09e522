#include "detectors/shortterm/shift_detector.h"
#include "detectors/telemetry/probe.h"
#include "tools/study/detection/detection_runs.h"
#include "tools/study/detection/detection_trials.h"
#include "tools/study/detection/information_bound.h"
#include "tools/study/detection/learned_nulls.h"
#include "tools/study/detection/noise_world.h"
#include "tools/study/detection/rare_alarms.h"
#include "tools/study/detection/table_visits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

namespace bonescan {
namespace {

FleetPlan fleet_in(NoiseWorld world) {
  FleetPlan plan;
  plan.world = world;
  return plan;
}

/// What a fleet sends in some minutes.
struct Moments {
  double probes = 0.0;
  double lost = 0.0;
  double lost_after_lost = 0.0;
  double mean_us = 0.0;      ///< of far pairs
  double spikes = 0.0;       ///< share of probes above 30 us
  double spike_twins = 0.0;  ///< of probes after one above 30 us
  double low = 0.0;          ///< share of far probes below 12 us
  double lag_one = 0.0;      ///< correlation of neighbouring logarithms below 30 us
};

Moments moments(NoiseWorld world, std::uint32_t turns) {
  NoiseFleet fleet(fleet_in(world), 2);
  Moments m;
  double far = 0.0;
  double after_spike = 0.0;
  double pairs = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  double products = 0.0;
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    for (const ObservedVisit& visit : fleet.turn(turn)) {
      if (fleet.path(visit.pair).request.size() != 4) {
        continue;
      }
      std::uint32_t before = 0;
      for (const std::uint32_t rtt : visit.rtts_ns) {
        m.probes += 1.0;
        m.lost += rtt == kLostRtt ? 1.0 : 0.0;
        m.lost_after_lost += rtt == kLostRtt && before == kLostRtt ? 1.0 : 0.0;
        if (answered(rtt)) {
          far += 1.0;
          m.mean_us += 1e-3 * rtt;
          m.spikes += rtt > 30'000 ? 1.0 : 0.0;
          m.low += rtt < 12'000 ? 1.0 : 0.0;
        }
        if (before != 0 && answered(before) && answered(rtt)) {
          after_spike += before > 30'000 ? 1.0 : 0.0;
          m.spike_twins += before > 30'000 && rtt > 30'000 ? 1.0 : 0.0;
          if (before < 30'000 && rtt < 30'000) {
            const double a = std::log(before * 1e-3 / kFarBaseUs);
            const double b = std::log(rtt * 1e-3 / kFarBaseUs);
            pairs += 1.0;
            sum += a;
            squares += a * a;
            products += a * b;
          }
        }
        before = rtt;
      }
    }
  }
  m.mean_us /= far;
  m.spikes /= far;
  m.low /= far;
  m.spike_twins /= std::max(1.0, after_spike);
  const double mean = sum / pairs;
  m.lag_one = (products / pairs - mean * mean) / (squares / pairs - mean * mean);
  return m;
}

TEST(NoiseFleet, HasTheMomentsOfItsFormula) {
  const Moments m = moments(NoiseWorld::kWellSpecified, 2000);
  const double mean_us = kFarBaseUs * std::exp(0.5 * kNoiseSigma * kNoiseSigma) + kNoiseQueueUs +
                         kNoiseSpikeShare * kNoiseSpikeUs;
  EXPECT_NEAR(m.mean_us, mean_us, 0.05);
  EXPECT_NEAR(ProbeDensity(kFarBaseUs).mean_us(), mean_us, 0.03);
  // exp(-(30 - 17) / 40) of the spikes, about.
  EXPECT_NEAR(m.spikes, 0.0073, 0.0006);
  EXPECT_NEAR(m.lag_one, 0.0, 0.01);
  EXPECT_NEAR(m.lost / m.probes, kNoiseBaseLoss, 2e-5);
}

TEST(NoiseFleet, BreaksOneAssumptionAWorld) {
  const Moments plain = moments(NoiseWorld::kWellSpecified, 2000);
  EXPECT_GT(moments(NoiseWorld::kAutoregressive, 2000).lag_one, 0.5);
  EXPECT_GT(moments(NoiseWorld::kStudentT, 2000).low, 10.0 * plain.low);
  const Moments exciting = moments(NoiseWorld::kSelfExciting, 2000);
  EXPECT_GT(exciting.spike_twins, 1.5 * plain.spike_twins);
  EXPECT_NEAR(exciting.spikes, plain.spikes, 0.3 * plain.spikes);
  const Moments lossy = moments(NoiseWorld::kBaseLoss, 4000);
  EXPECT_NEAR(lossy.lost / lossy.probes, 10.0 * kNoiseBaseLoss, 4e-5);
  EXPECT_GT(moments(NoiseWorld::kRegimes, 2000).mean_us, plain.mean_us + 0.3);
}

TEST(NoiseFleet, LosesInBurstsAsMuchAsOtherWorlds) {
  const Moments bursty = moments(NoiseWorld::kGilbertElliott, 30'000);
  EXPECT_NEAR(bursty.lost / bursty.probes, kNoiseBaseLoss, 8e-6);
  // A burst goes on with 0.7 and loses with 0.6; visits end now and then.
  EXPECT_GT(bursty.lost_after_lost, 0.2 * bursty.lost);
}

TEST(NoiseFleet, LabelsOnePairInTwentyWrongly) {
  const NoiseFleet right(fleet_in(NoiseWorld::kWellSpecified), 3);
  const NoiseFleet wrong(fleet_in(NoiseWorld::kWrongClasses), 3);
  double differing = 0.0;
  for (std::uint32_t p = 0; p < right.pairs().size(); ++p) {
    EXPECT_EQ(right.label(PairId(p)), right.path(PairId(p)).request.size() == 2 ? 0 : 1);
    differing += right.label(PairId(p)) != wrong.label(PairId(p)) ? 1.0 : 0.0;
  }
  EXPECT_NEAR(differing / static_cast<double>(right.pairs().size()), 0.05, 0.03);
}

TEST(NoiseFleet, VisitsEachPairOnceASweepAndItsWayBackHalfASweepLater) {
  for (const std::uint32_t sweep_s : {9U, 17U, 25U}) {
    FleetPlan plan;
    plan.sweep_s = sweep_s;
    NoiseFleet fleet(plan, 5);
    ASSERT_EQ(fleet.pairs().size(), std::size_t{plan.endpoints} * sweep_s);
    std::vector<std::vector<std::uint32_t>> turns(fleet.pairs().size());
    for (std::uint32_t turn = 0; turn < 2 * sweep_s; ++turn) {
      for (const ObservedVisit& visit : fleet.turn(turn)) {
        turns[visit.pair.index()].push_back(turn);
      }
    }
    for (std::uint32_t p = 0; p < fleet.pairs().size(); p += 2) {
      ASSERT_EQ(fleet.pairs()[PairId(p)].reversed(), fleet.pairs()[PairId(p + 1)]);
      ASSERT_EQ(turns[p].size(), 2U);
      EXPECT_EQ(turns[p][1] - turns[p][0], sweep_s);
      const std::uint32_t lag = (turns[p + 1][0] + sweep_s - turns[p][0]) % sweep_s;
      EXPECT_EQ(lag, sweep_s / 2);
    }
  }
}

// The run without the fault is its twin.
TEST(NoiseFleet, ChangesNothingButWhatTheFaultTouches) {
  NoiseFleet broken({}, 9);
  NoiseFleet twin({}, 9);
  broken.set_fault({.kind = FaultKind::kStep, .scope = FaultScope::kLink, .factor = 2.0}, 10.0);
  std::uint64_t differing = 0;
  for (std::uint32_t turn = 0; turn < 40; ++turn) {
    const auto a = broken.turn(turn);
    const auto b = twin.turn(turn);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t v = 0; v < a.size(); ++v) {
      for (std::size_t i = 0; i < a[v].rtts_ns.size(); ++i) {
        if (a[v].rtts_ns[i] != b[v].rtts_ns[i]) {
          ++differing;
          EXPECT_TRUE(broken.affected(a[v].pair));
          EXPECT_GE(turn, 9U);
        }
      }
    }
  }
  EXPECT_EQ(differing, broken.affected_probes());
  EXPECT_GT(differing, 0U);
}

TEST(InformationBound, EqualsClosedForms) {
  EXPECT_NEAR(loss_information(1.0, 1e-5), std::log(1e5), 1e-6);
  EXPECT_NEAR(loss_information(0.01, 1e-5), 0.01 * std::log(1001.0) + 0.99 * std::log(0.99), 1e-4);
  EXPECT_NEAR(nats_of_budget(1.0, 1e9), 9.0 * std::log(10.0), 1e-9);
  EXPECT_EQ(bound_probes(2.0, 50.0), 1.0);
  // Mean wait for the next probe: each gap, squared, over twice the period.
  const VisitRhythm rhythm{.period_s = 10.0, .gap_s = 0.1, .probes = 10, .answer_s = 0.5};
  EXPECT_NEAR(bound_delay_s(rhythm, 1.0), (9 * 0.01 + 9.1 * 9.1) / 20.0 + 0.5, 1e-3);
  // The eleventh probe comes one period after the first.
  EXPECT_NEAR(bound_delay_s(rhythm, 11.0), bound_delay_s(rhythm, 1.0) + 10.0, 1e-3);
  EXPECT_NEAR(growing_bound_s(std::vector<double>(100, 0.5), 1.0, 4.0, 25.0), 12.5, 1e-9);
  EXPECT_EQ(growing_bound_s(std::vector<double>(10, 0.5), 1.0, 1.0, 25.0),
            std::numeric_limits<double>::infinity());
}

TEST(InformationBound, GrowsWithTheSquareOfASmallShift) {
  const double one = latency_information(kFarBaseUs, 1.01);
  const double two = latency_information(kFarBaseUs, 1.02);
  EXPECT_NEAR(two / one, 4.0, 0.3);
  // Below that of the log-normal part alone, whose shift is ln(1.02) / 0.08 standard deviations.
  EXPECT_LT(two, 0.5 * std::pow(std::log(1.02) / kNoiseSigma, 2.0));
  EXPECT_GT(latency_information(kFarBaseUs, 7.5), 5.0);
}

TEST(PoissonBounds, EqualTables) {
  EXPECT_NEAR(poisson_upper(0), 2.996, 0.001);
  EXPECT_NEAR(poisson_upper(5), 10.513, 0.001);
  EXPECT_NEAR(poisson_lower(5), 1.970, 0.001);
  EXPECT_EQ(poisson_lower(0), 0.0);
}

/// Accuses whoever lost a probe in this turn.
class AnyLoss final : public Detector {
 public:
  std::string_view name() const override { return "any-loss"; }
  void resize(std::size_t) override {}
  void set_class(PairId, std::uint8_t) override {}
  void release(PairRange) override {}

  void observe(Time, std::span<const ObservedVisit> visits) override {
    for (const ObservedVisit& visit : visits) {
      for (const std::uint32_t rtt : visit.rtts_ns) {
        if (rtt == kLostRtt) {
          losers_.push_back(visit.pair);
          break;
        }
      }
    }
  }

  void evaluate(Time now, std::vector<Verdict>& verdicts) override {
    for (const PairId pair : losers_) {
      verdicts.push_back(
          {.at = now, .pair = pair, .kind = VerdictKind::kAnomalous, .rule = VerdictRule::kOther});
    }
    losers_.clear();
  }

 private:
  std::vector<PairId> losers_;
};

DetectorEntry any_loss() {
  return {.name = "any-loss",
          .make = [](const DetectorSite&) { return std::make_unique<AnyLoss>(); },
          .ours = true};
}

// Visits of a pair are 8 and 9 s apart, last probes of a visit come 0.95 s after their turn begins
// on average, and the turn is handed on after 1.5 s.
TEST(Trials, MeasureTheDelayOfAClosedForm) {
  const TrialPlan plan{
      .fault = {.kind = FaultKind::kLoss, .loss = 1.0}, .warm_s = 20.0, .trials = 400};
  const auto series = run_trials(plan, {any_loss()}, SeedParity::kEven, 2);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].found(), 400U);
  EXPECT_NEAR(series[0].mean_s(60.0), 0.55 + (8.0 * 8.0 + 9.0 * 9.0) / 2.0 / 17.0, 0.4);
  EXPECT_LE(series[0].quantile_s(1.0), 9.0 + 0.7);
  EXPECT_EQ(series[0].found_within(60.0), 1.0);
  // No bound is broken: one lost probe is not the three that the budget asks for.
  const auto alone = run_trials(plan, {any_loss()}, SeedParity::kEven, 1);
  EXPECT_EQ(alone[0].mean_s(60.0), series[0].mean_s(60.0));
}

TEST(Trials, CountMissesAsMissed) {
  TrialSeries series;
  series.outcomes = {{2.0, 10}, {std::nullopt, 0}, {4.0, 30}, {6.0, 20}};
  EXPECT_EQ(series.found(), 3U);
  EXPECT_EQ(series.mean_s(60.0), 18.0);
  EXPECT_EQ(series.quantile_s(0.5), 4.0);
  EXPECT_EQ(series.quantile_s(0.95), std::numeric_limits<double>::infinity());
  EXPECT_EQ(series.mean_probes(), 20.0);
  EXPECT_EQ(series.found_within(4.0), 0.5);
  TrialSeries other = series;
  other.outcomes = {{std::nullopt, 0}, {9.0, 1}, {3.0, 2}, {std::nullopt, 0}};
  DetectorEntry stranger = any_loss();
  stranger.ours = false;
  const auto first =
      first_of({any_loss(), any_loss(), stranger}, {series, other, other}, &DetectorEntry::ours);
  EXPECT_EQ(first.mean_s(60.0), (2.0 + 9.0 + 3.0 + 6.0) / 4.0);
}

TEST(IncidentCount, MergesWhatIsOneEvent) {
  const NoiseFleet fleet({}, 1);
  IncidentCount incidents(fleet.pairs());
  const auto accuse = [&](std::uint32_t pair, int at_s, VerdictRule rule) {
    incidents.add({.at = kStartOfRun + std::chrono::seconds(at_s),
                   .pair = PairId(pair),
                   .kind = VerdictKind::kAnomalous,
                   .rule = rule});
    return incidents.count();
  };
  EXPECT_EQ(accuse(4, 100, VerdictRule::kShift), 1U);
  EXPECT_EQ(accuse(4, 150, VerdictRule::kShift), 1U);
  EXPECT_EQ(accuse(5, 160, VerdictRule::kShift), 1U) << "the way back";
  EXPECT_EQ(accuse(5, 220, VerdictRule::kShift), 2U) << "a minute later";
  EXPECT_EQ(accuse(8, 220, VerdictRule::kShift), 3U);
  EXPECT_EQ(accuse(10, 300, VerdictRule::kPooledLoss), 4U);
  EXPECT_EQ(accuse(20, 300, VerdictRule::kPooledLoss), 4U) << "one component, many pairs";
}

}  // namespace

TEST(NoiseFleet, CountsProbesOfAFaultVisitByVisit) {
  NoiseFleet fleet(fleet_in(NoiseWorld::kWellSpecified), 3);
  fleet.set_fault({.kind = FaultKind::kLoss, .scope = FaultScope::kRnic, .loss = 0.5}, 7.45);
  std::uint64_t probes = 0;
  for (std::uint32_t turn = 0; turn < 30; ++turn) {
    for (const ObservedVisit& visit : fleet.turn(turn)) {
      probes += fleet.affected_probes_of(visit);
    }
    EXPECT_EQ(probes, fleet.affected_probes()) << turn;
  }
  EXPECT_GT(probes, 100u);
}

// The rule that pools losses takes visits one after the other; what was sent later than the visit
// that alarmed is no part of its evidence.
TEST(DetectionTrials, CountProbesToTheVisitThatAlarmed) {
  std::vector<DetectorEntry> entries;
  for (const DetectorEntry& entry : detector_registry()) {
    if (entry.name == "bonescan-loss") {
      entries.push_back(entry);
    }
  }
  ASSERT_EQ(entries.size(), 1u);
  const TrialPlan plan{
      .fleet = {},
      .fault = {.kind = FaultKind::kLoss, .scope = FaultScope::kLink, .loss = 0.05},
      .warm_s = 30.0,
      .trials = 20};
  const TrialSeries series = run_trials(plan, entries, SeedParity::kEven, 1).front();
  EXPECT_EQ(series.found(), 20u);
  EXPECT_LT(series.mean_probes() + 4.0, series.mean_probes_sent());
  EXPECT_GT(series.mean_probes() + 30.0, series.mean_probes_sent());
}

// What is drawn on purpose and weighed must give what a count gives, where a count can be had.
TEST(RareAlarms, AgreeWithACountAtALooseBudget) {
  constexpr double kProbability = 2e-5;
  const RareAlarms drawn =
      shift_alarms_per_visit(kProbability, learned_nulls({}), SeedParity::kEven, 12, 1);
  ASSERT_LT(drawn.error, 0.25 * drawn.rate);

  ShiftDetector detector(ShiftOptions{.probability = kProbability});
  detector.hold_nulls(learned_nulls({}).visit, learned_nulls({}).run);
  TableVisits table(400'100);
  detector.resize(table.pairs());
  for (std::uint32_t p = 0; p < table.pairs(); ++p) {
    detector.set_class(PairId(p), 1);
  }
  std::vector<Verdict> verdicts;
  std::vector<std::uint32_t> late(table.pairs(), 0);
  std::uint64_t alarms = 0;
  constexpr std::uint32_t kTurns = 25'000;
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
    verdicts.clear();
    detector.observe(NoiseFleet::handed_on(turn), table.turn(turn));
    detector.evaluate(NoiseFleet::handed_on(turn), verdicts);
    for (const Verdict& verdict : verdicts) {
      alarms += late[verdict.pair.index()] + 1 < turn ? 1 : 0;
      late[verdict.pair.index()] = turn;
    }
  }
  const double counted =
      static_cast<double>(alarms) / (kTurns * static_cast<double>(table.pairs()));
  std::printf("drawn %.3g (%.1g), counted %.3g from %llu alarms\n",
              drawn.rate,
              drawn.error,
              counted,
              static_cast<unsigned long long>(alarms));
  const double error = std::hypot(drawn.error, counted / std::sqrt(static_cast<double>(alarms)));
  EXPECT_NEAR(drawn.rate, counted, 3.0 * error);
}

}  // namespace bonescan
