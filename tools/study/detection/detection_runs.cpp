#include "tools/study/detection/detection_runs.h"

#include <algorithm>
#include <cstdio>

namespace bonescan {
namespace {

std::vector<DetectorEntry> entries_that_are(bool slow) {
  std::vector<DetectorEntry> entries;
  for (const DetectorEntry& entry : detector_registry()) {
    if (entry.slow == slow) {
      entries.push_back(entry);
    }
  }
  return entries;
}

bool better(const TrialOutcome& a, const TrialOutcome& b) {
  return a.delay_s && (!b.delay_s || *a.delay_s < *b.delay_s);
}

DelayResult run_case(const DelayCase& one,
                     const std::vector<DetectorEntry>& entries,
                     SeedParity parity,
                     std::uint32_t threads) {
  DelayResult result;
  result.one = one;
  result.bound = information_bound(one);
  // Who is deaf to the fault would only take time.
  std::vector<std::size_t> places;
  std::vector<DetectorEntry> hearing;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (one.plan.fault.kind == FaultKind::kLoss ? entries[i].sees_loss : entries[i].sees_latency) {
      places.push_back(i);
      hearing.push_back(entries[i]);
    }
  }
  result.series.resize(entries.size());
  std::vector<TrialSeries> heard = run_trials(one.plan, hearing, parity, threads);
  for (std::size_t i = 0; i < places.size(); ++i) {
    result.series[places[i]] = std::move(heard[i]);
  }
  result.ours = first_of(entries, result.series, &DetectorEntry::ours);
  result.paper = first_of(entries, result.series, &DetectorEntry::paper);
  return result;
}

void run_nulls(DetectionResults& results, std::uint32_t threads) {
  for (const NoiseWorld world : kNoiseWorlds) {
    FleetPlan fleet;
    fleet.world = world;
    fleet.learnt_visits = learnt_visits(results.size, world);
    results.nulls.push_back({world,
                             run_null(fleet,
                                      results.entries,
                                      results.parity,
                                      sized(results.size, 2, 4, 6),
                                      sized(results.size, 600, 1'500, 4'000),
                                      threads)});
  }
}

TrialPlan step_of_a_pair(const FleetPlan& fleet, double factor, std::uint32_t trials) {
  return {.fleet = fleet,
          .fault = {.kind = FaultKind::kStep, .scope = FaultScope::kPair, .factor = factor},
          .trials = trials};
}

void run_operating_curves(DetectionResults& results, std::uint32_t threads) {
  const std::uint32_t trials = sized(results.size, 4, 15, 40);
  FleetPlan fleet;
  fleet.learnt_visits = learnt_visits(results.size, fleet.world);
  for (const OperatingCurve& curve : operating_curves()) {
    std::vector<DetectorEntry> entries;
    for (const double value : curve.values) {
      entries.push_back(curve.make(value));
    }
    const auto null = run_null(fleet,
                               entries,
                               results.parity,
                               sized(results.size, 2, 4, 4),
                               sized(results.size, 300, 1'500, 4'000),
                               threads);
    const auto small =
        run_trials(step_of_a_pair(fleet, 1.25, trials), entries, results.parity, threads);
    const auto middle =
        run_trials(step_of_a_pair(fleet, 1.5, trials), entries, results.parity, threads);
    const auto large =
        run_trials(step_of_a_pair(fleet, 7.5, trials), entries, results.parity, threads);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      results.operating.push_back(
          {.curve = curve.name,
           .setting = curve.setting,
           .value = curve.values[i],
           .false_alarms = null[i].incidents,
           .fleet_days = static_cast<double>(null[i].visits) / kFleetDayVisits,
           .found_small = small[i].found_within(60.0),
           .found_middle = middle[i].found_within(60.0),
           .found_large = large[i].found_within(60.0)});
    }
  }
}

std::vector<DelayCase> ablation_cases(DetectionSize size) {
  const std::uint32_t trials = sized(size, 4, 10, 25);
  const auto plan = [&](const FaultPlan& fault, double watch_s, NoiseWorld world) {
    TrialPlan one{.fleet = {}, .fault = fault, .watch_s = watch_s, .trials = trials};
    one.fleet.world = world;
    one.fleet.learnt_visits = learnt_visits(size, world);
    return one;
  };
  const FaultPlan middle{.kind = FaultKind::kStep, .factor = 1.5};
  const FaultPlan large{.kind = FaultKind::kStep, .factor = 7.5};
  const FaultPlan gray{.kind = FaultKind::kLoss, .scope = FaultScope::kLink, .loss = 0.01};
  const FaultPlan full{.kind = FaultKind::kLoss, .loss = 1.0};
  return {
      {.group = "",
       .name = "x1.5 of a pair",
       .plan = plan(middle, 60, NoiseWorld::kWellSpecified),
       .bound = {}},
      {.group = "",
       .name = "x1.5 of a pair, inhomogeneous",
       .plan = plan(middle, 60, NoiseWorld::kInhomogeneous),
       .bound = {}},
      {.group = "",
       .name = "x7.5 of a pair",
       .plan = plan(large, 60, NoiseWorld::kWellSpecified),
       .bound = {}},
      {.group = "",
       .name = "full loss of a pair",
       .plan = plan(full, 60, NoiseWorld::kWellSpecified),
       .bound = {}},
      {.group = "",
       .name = "1 % loss of a fabric link",
       .plan = plan(gray, 240, NoiseWorld::kWellSpecified),
       .bound = {}},
  };
}

void run_ablations(DetectionResults& results, std::uint32_t threads) {
  const std::vector<DelayCase> cases = ablation_cases(results.size);
  for (const DelayCase& one : cases) {
    results.ablation_cases.push_back(one.name);
  }
  for (const Ablation& ablation : ablations()) {
    AblationResult result;
    result.name = ablation.name;
    for (const DelayCase& one : cases) {
      TrialPlan plan = one.plan;
      plan.fleet.counter_phase = ablation.counter_phase;
      result.series.push_back(first_of(ablation.entries,
                                       run_trials(plan, ablation.entries, results.parity, threads),
                                       &DetectorEntry::ours));
    }
    FleetPlan fleet;
    fleet.counter_phase = ablation.counter_phase;
    fleet.learnt_visits = learnt_visits(results.size, fleet.world);
    for (const NullSeries& one : run_null(fleet,
                                          ablation.entries,
                                          results.parity,
                                          sized(results.size, 2, 4, 4),
                                          sized(results.size, 300, 1'500, 4'000),
                                          threads)) {
      result.null.incidents += one.incidents;
      result.null.visits = one.visits;
    }
    results.ablations.push_back(std::move(result));
  }
}

}  // namespace

TrialSeries first_of(const std::vector<DetectorEntry>& entries,
                     const std::vector<TrialSeries>& series,
                     bool DetectorEntry::*member) {
  TrialSeries first;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!(entries[i].*member) || series[i].outcomes.empty()) {
      continue;
    }
    first.outcomes.resize(series[i].outcomes.size());
    for (std::size_t trial = 0; trial < first.outcomes.size(); ++trial) {
      if (better(series[i].outcomes[trial], first.outcomes[trial])) {
        first.outcomes[trial] = series[i].outcomes[trial];
      }
    }
    first.false_alarms += series[i].false_alarms;
    first.visits = series[i].visits;
  }
  return first;
}

bool DelayResult::holds() const {
  const DelayBound& wanted = one.bound;
  if (!wanted.wanted()) {
    return true;
  }
  if (ours.outcomes.empty()) {
    return false;
  }
  const bool mean = wanted.mean_s == 0.0 || ours.mean_s(60.0) <= wanted.mean_s;
  const bool p95 = wanted.p95_s == 0.0 || ours.quantile_s(0.95) <= wanted.p95_s;
  const bool median = wanted.median_s == 0.0 || ours.quantile_s(0.5) <= wanted.median_s;
  const bool probes = wanted.mean_probes == 0.0 || (ours.found() == ours.outcomes.size() &&
                                                    ours.mean_probes() <= wanted.mean_probes);
  return mean && p95 && median && probes;
}

bool DetectionResults::hold() const {
  const auto holds = [](const DelayResult& result) { return result.holds(); };
  return complete && std::all_of(delays.begin(), delays.end(), holds) &&
         std::all_of(drifts.begin(), drifts.end(), holds) &&
         sum_of(rare).rate <= kAllowedFalseAlarms &&
         std::all_of(
             checks.begin(), checks.end(), [](const NullCheck& check) { return check.holds(); });
}

DetectionResults run_detection_study(
    DetectionSize size,
    SeedParity parity,
    std::uint32_t threads,
    const std::function<void(const DetectionResults&)>& after_part) {
  DetectionResults results;
  results.parity = parity;
  results.size = size;
  results.entries = entries_that_are(false);
  results.slow_entries = entries_that_are(true);
  const auto done = [&](const char* part) {
    std::fprintf(stderr, "%s done\n", part);
    after_part(results);
  };
  for (const DelayCase& one : delay_cases(size)) {
    results.delays.push_back(run_case(one, results.entries, parity, threads));
  }
  done("delays");
  results.rare = run_rare_alarms(size, parity, threads);
  done("rare alarms");
  for (const DelayCase& one : drift_cases(size)) {
    results.drifts.push_back(run_case(one, results.slow_entries, parity, threads));
  }
  done("drifts");
  results.placing = run_placing(size, parity, threads);
  run_ablations(results, threads);
  done("ablations");
  run_operating_curves(results, threads);
  done("operating curves");
  run_nulls(results, threads);
  done("fleets without a fault");
  for (const NoiseWorld world : kNoiseWorlds) {
    results.checks.push_back(run_null_check(size, world, threads));
    results.complete = results.checks.size() == kNoiseWorlds.size();
    done("null check");
  }
  return results;
}

}  // namespace bonescan
