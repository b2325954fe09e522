#include "tools/study/detection/detection_plan.h"

#include "tools/study/detection/information_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

constexpr double kRttS = 2e-5;
constexpr double kTimeoutS = 0.5;
constexpr double kSweeps[] = {9, 17, 25};

/// Rules about loss have no spread to learn, so their trials begin sooner.
constexpr double kLossWarmS = 60.0;

FleetPlan fleet_of(double sweep_s) {
  FleetPlan fleet;
  fleet.sweep_s = static_cast<std::uint32_t>(sweep_s);
  return fleet;
}

FaultPlan step(double factor, FaultScope scope) {
  return {.kind = FaultKind::kStep, .scope = scope, .factor = factor};
}

FaultPlan loss(double share, FaultScope scope) {
  return {.kind = FaultKind::kLoss, .scope = scope, .loss = share};
}

std::string percent(double share) {
  return fmt::format("{:g} %", 100.0 * share);
}

/// What is required of abrupt faults of one pair at each of the paper's sweeps.
DelayBound single_pair_bound(double sweep_s) {
  return {.mean_s = std::min(8.0, sweep_s / 2.0 + 2.0)};
}

void add_steps(std::vector<DelayCase>& cases, std::uint32_t trials) {
  for (const double factor : {1.1, 1.25, 1.5, 2.0, 3.0, 7.5}) {
    DelayCase one{
        .group = "step, one pair",
        .name = fmt::format("x{:g}", factor),
        .x = factor,
        .plan = {
            .fleet = fleet_of(17), .fault = step(factor, FaultScope::kPair), .trials = trials}};
    if (factor == 7.5) {
      one.bound = single_pair_bound(17);
    }
    cases.push_back(one);
    one.group = "step, one RNIC";
    one.plan.fault.scope = FaultScope::kRnic;
    one.bound = {};
    cases.push_back(one);
  }
}

void add_ramps(std::vector<DelayCase>& cases, std::uint32_t trials) {
  for (const double minutes : {5.0, 10.0, 30.0, 60.0}) {
    cases.push_back(
        {.group = "ramp to x7.5, one pair",
         .name = fmt::format("{:g} min", minutes),
         .x = minutes,
         .plan = {.fleet = fleet_of(17),
                  .fault = {.kind = FaultKind::kRamp, .factor = 7.5, .ramp_s = 60.0 * minutes},
                  .watch_s = 60.0 * minutes + 300.0,
                  .trials = std::max(4U, trials / 3)}});
  }
}

void add_losses(std::vector<DelayCase>& cases, std::uint32_t trials) {
  struct Loss {
    double share;
    double link_probes;  ///< required
    double link_watch_s;
    double pair_watch_s;
    std::uint32_t link_trials;  ///< tenths of the usual number
  };

  const Loss losses[] = {{0.001, 8000, 1500, 3600, 8},
                         {0.003, 0, 600, 1800, 5},
                         {0.01, 500, 240, 600, 100},
                         {0.05, 90, 120, 240, 180},
                         {0.2, 0, 60, 120, 10},
                         {1.0, 0, 60, 60, 10}};
  for (const Loss& one : losses) {
    DelayCase link{.group = "loss, fabric link",
                   .name = percent(one.share),
                   .x = 100.0 * one.share,
                   .plan = {.fleet = fleet_of(17),
                            .fault = loss(one.share, FaultScope::kLink),
                            .warm_s = kLossWarmS,
                            .watch_s = one.link_watch_s,
                            .trials = one.link_trials * trials / 10},
                   .bound = {.mean_probes = one.link_probes}};
    if (one.share == 1.0) {
      link.bound.p95_s = 3.0;
    }
    cases.push_back(link);
    DelayCase pair = link;
    pair.group = "loss, one pair";
    pair.plan.fault.scope = FaultScope::kPair;
    pair.plan.watch_s = one.pair_watch_s;
    pair.plan.trials = one.share < 0.01 ? std::max(4U, trials / 4) : trials;
    pair.bound = one.share == 1.0 ? single_pair_bound(17) : DelayBound{};
    cases.push_back(pair);
  }
}

void add_sweeps(std::vector<DelayCase>& cases, std::uint32_t trials) {
  for (const double sweep_s : kSweeps) {
    for (const bool counter_phase : {true, false}) {
      TrialPlan plan{.fleet = fleet_of(sweep_s), .fault = {}, .trials = trials};
      plan.fleet.counter_phase = counter_phase;
      const std::string suffix = counter_phase ? "" : ", not counter-phased";
      const DelayBound single = counter_phase ? single_pair_bound(sweep_s) : DelayBound{};
      const auto add = [&](const char* what, const FaultPlan& fault, const DelayBound& bound) {
        DelayCase one{.group = "sweeps",
                      .name = fmt::format("{}, sweep {:g} s{}", what, sweep_s, suffix),
                      .x = sweep_s,
                      .plan = plan,
                      .bound = bound};
        one.plan.fault = fault;
        one.plan.warm_s = fault.kind == FaultKind::kLoss ? kLossWarmS : one.plan.warm_s;
        // A mean over onsets has to be told from its bound.
        one.plan.trials *= bound.mean_s > 0.0 ? 3 : 1;
        cases.push_back(one);
      };
      add("full loss of a pair", loss(1.0, FaultScope::kPair), single);
      add("x7.5 of a pair", step(7.5, FaultScope::kPair), single);
      add("full loss of an RNIC",
          loss(1.0, FaultScope::kRnic),
          {.p95_s = counter_phase ? 3.0 : 0.0});
      add("full loss of a fabric link",
          loss(1.0, FaultScope::kLink),
          {.p95_s = counter_phase ? 3.0 : 0.0});
    }
  }
}

/// What chance finds: the same watches, and nothing wrong.
void add_shams(std::vector<DelayCase>& cases, std::uint32_t trials) {
  for (const FaultScope scope : {FaultScope::kPair, FaultScope::kRnic, FaultScope::kLink}) {
    cases.push_back({.group = "nothing is wrong: what chance finds",
                     .name = fmt::format("{}, within 60 s", to_string(scope)),
                     .plan = {.fleet = fleet_of(17), .fault = step(1.0, scope), .trials = trials}});
  }
}

void add_worlds(std::vector<DelayCase>& cases, std::uint32_t trials) {
  for (const NoiseWorld world : kNoiseWorlds) {
    TrialPlan plan{.fleet = fleet_of(17), .fault = {}, .trials = trials};
    plan.fleet.world = world;
    const auto add = [&](const char* what, const FaultPlan& fault, double watch_s) {
      DelayCase one{.group = "worlds",
                    .name = fmt::format("{}: {}", to_string(world), what),
                    .x = static_cast<double>(world),
                    .plan = plan,
                    .bound = {}};
      one.plan.fault = fault;
      one.plan.watch_s = watch_s;
      one.plan.warm_s = fault.kind == FaultKind::kLoss ? kLossWarmS : one.plan.warm_s;
      cases.push_back(one);
    };
    const bool losing = world == NoiseWorld::kGilbertElliott || world == NoiseWorld::kBaseLoss;
    if (!losing) {
      add("x1.5 of a pair", step(1.5, FaultScope::kPair), 60.0);
      add("x7.5 of a pair", step(7.5, FaultScope::kPair), 60.0);
    }
    // Losses are drawn alike in all others.
    if (losing || world == NoiseWorld::kWellSpecified) {
      add("full loss of a pair", loss(1.0, FaultScope::kPair), 60.0);
      add("1 % loss of a fabric link", loss(0.01, FaultScope::kLink), 240.0);
    }
  }
}

/// Nats a probe, from the onset on, in steps of `step_s`.
std::vector<double> growing_nats(const FaultPlan& fault, double step_s, double until_s) {
  // The divergence is smooth in the factor: a few knots and a straight line between them.
  constexpr int kKnots = 40;
  std::vector<double> at(kKnots + 1);
  const double full = fault.kind == FaultKind::kRamp
                          ? fault.factor
                          : 1.0 + (fault.factor - 1.0) * until_s / 86'400.0;
  for (int i = 0; i <= kKnots; ++i) {
    at[static_cast<std::size_t>(i)] =
        latency_information(kFarBaseUs, 1.0 + (full - 1.0) * i / kKnots);
  }
  const double growth_s = fault.kind == FaultKind::kRamp ? fault.ramp_s : until_s;
  std::vector<double> nats;
  const auto steps = static_cast<int>(std::ceil(until_s / step_s - 0.5));
  for (int i = 0; i < steps; ++i) {
    const double position = kKnots * std::min(1.0, (i + 0.5) * step_s / growth_s);
    const auto knot = std::min<std::size_t>(static_cast<std::size_t>(position), kKnots - 1);
    const double share = position - static_cast<double>(knot);
    nats.push_back((1.0 - share) * at[knot] + share * at[knot + 1]);
  }
  return nats;
}

/// Where levels wander by themselves, probes tell no more than the level of a half hour does: its
/// innovations are independent, and a drift shifts them a little further each time.
double wandering_bound_s(double per_day, double nats) {
  constexpr double kStepS = 1800.0;
  const double slope = per_day * kStepS / 86'400.0;
  const double variance = kWanderSd * kWanderSd * (1.0 - kWanderMemory * kWanderMemory);
  double sum = 0.0;
  int step = 0;
  while (sum < nats) {
    ++step;
    const double shift = slope * (step - kWanderMemory * (step - 1));
    sum += 0.5 * shift * shift / variance;
  }
  return kStepS * step;
}

}  // namespace

std::vector<DelayCase> delay_cases(DetectionSize size) {
  const std::uint32_t trials = sized(size, 6, 20, 50);
  std::vector<DelayCase> cases;
  add_sweeps(cases, trials);
  add_steps(cases, trials);
  if (size != DetectionSize::kQuick) {
    add_ramps(cases, trials);
  }
  add_losses(cases, trials);
  add_shams(cases, std::max(4U, trials / 2));
  add_worlds(cases, sized(size, 4, 10, 20));
  for (DelayCase& one : cases) {
    one.plan.fleet.learnt_visits = learnt_visits(size, one.plan.fleet.world);
  }
  return cases;
}

std::vector<DelayCase> drift_cases(DetectionSize size) {
  std::vector<DelayCase> cases;
  for (const NoiseWorld world : {NoiseWorld::kWellSpecified, NoiseWorld::kWandering}) {
    FleetPlan fleet = fleet_of(9);
    fleet.endpoints = 10;
    fleet.world = world;
    cases.push_back({.group = "drift, one pair",
                     .name = fmt::format("10 % a day, {}", to_string(world)),
                     .x = 0.0,
                     .plan = {.fleet = fleet,
                              .fault = {.kind = FaultKind::kDrift, .factor = 1.1},
                              .warm_s = 36.0 * 3600.0,
                              .watch_s = 60.0 * 3600.0,
                              .trials = sized(size, 2, 5, 9)},
                     .bound = {.median_s = 20.0 * 3600.0}});
  }
  return cases;
}

double crossing_probes_per_s(const TrialPlan& plan) {
  double visits = 0.0;
  constexpr std::uint32_t kSeeds = 16;
  for (std::uint32_t i = 0; i < kSeeds; ++i) {
    NoiseFleet fleet(plan.fleet, trial_seed(SeedParity::kOdd, i));
    fleet.set_fault(plan.fault, 0.0);
    for (std::uint32_t p = 0; p < fleet.pairs().size(); ++p) {
      visits += fleet.affected(PairId(p)) ? 1.0 : 0.0;
    }
  }
  return visits / kSeeds * plan.fleet.probes / plan.fleet.sweep_s;
}

InformationBound information_bound(const DelayCase& one) {
  const FaultPlan& fault = one.plan.fault;
  InformationBound bound;
  bound.nats = nats_of_budget(kGoalFalseAlarms, kFleetDayVisits);
  const double rate = crossing_probes_per_s(one.plan);
  if (fault.kind == FaultKind::kDrift && one.plan.fleet.world == NoiseWorld::kWandering) {
    bound.delay_s = wandering_bound_s(fault.factor - 1.0, bound.nats);
    bound.probes = rate * bound.delay_s;
    return bound;
  }
  if (fault.kind == FaultKind::kRamp || fault.kind == FaultKind::kDrift) {
    const double step_s = one.plan.watch_s / 20'000.0;
    bound.delay_s =
        growing_bound_s(growing_nats(fault, step_s, one.plan.watch_s), step_s, rate, bound.nats);
    bound.probes = rate * bound.delay_s;
    return bound;
  }
  const bool losing = fault.kind == FaultKind::kLoss;
  bound.nats_per_probe = losing ? loss_information(fault.loss, kNoiseBaseLoss)
                                : latency_information(kFarBaseUs, fault.factor);
  bound.probes = bound_probes(bound.nats, bound.nats_per_probe);
  const double answer_s = losing ? kTimeoutS : kRttS;
  if (fault.scope != FaultScope::kPair) {
    // Many pairs, each with a rhythm of its own: probes come evenly.
    bound.delay_s = bound.probes / rate + answer_s;
    return bound;
  }
  // Two seconds drawn anew for each pair leave longer gaps than two half a sweep apart.
  const double gaps_s = one.plan.fleet.sweep_s * (one.plan.fleet.counter_phase ? 0.5 : 2.0 / 3.0);
  bound.delay_s = bound_delay_s(
      {.period_s = gaps_s, .probes = one.plan.fleet.probes, .answer_s = answer_s}, bound.probes);
  return bound;
}

}  // namespace bonescan
