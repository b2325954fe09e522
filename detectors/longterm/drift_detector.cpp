#include "detectors/longterm/drift_detector.h"

#include "detectors/longterm/drift_math.h"
#include "detectors/longterm/normal_tail.h"
#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bonescan {
namespace {

constexpr Duration kDay = std::chrono::hours(24);
constexpr std::size_t kClasses = std::numeric_limits<std::uint8_t>::max() + std::size_t{1};

/// Tests per pair and period: the smoothed level and the cumulative sum.
constexpr double kTests = 2.0;

/// One step of the cumulative sum counts at most this; larger ones are the smoothed level's
/// business.  @ours
constexpr double kMostStep = 3.5;

/// Of a pair's own squares each counts at most so many times their mean so far: one step of its
/// level must not make it look like a pair that always steps.  @ours
constexpr double kBound = 9.0;

/// A square that is so many times their mean is a step of the level.  @ours
constexpr double kJump = 16.0;

/// A pair whose own mean square is this many standard errors above what the class lets expect is
/// not one of its class, whatever its label says.  @ours
constexpr double kStranger = 2.0;

/// A pair that stands this many standard deviations high is not asked what is normal.  @ours
constexpr double kSuspicion = 3.0;

/// Squares of differences of one series overlap: that many of them are worth so many.  @ours
constexpr double kWorth = 2.0 / 3.0;

/// A pair's own autocorrelation weighs as much as its class's after this many periods.  @ours
constexpr double kPhiPrior = 12.0;

/// Steps of a pair before its own spread helps to tell how alike the class's pairs are.  @ours
constexpr float kSpreadLeast = 16.0F;

/// A log p above it is nowhere near any budget, and is not worth an exact tail.
constexpr double kDull = -8.0;

/// Share of a period's visits that must stand high.  @ours
constexpr double kHighShare = 0.5;

std::uint16_t periods_in(Duration time, Duration period) {
  const std::int64_t count = (time + period - Duration(1)) / period;
  return static_cast<std::uint16_t>(
      std::min<std::int64_t>(count, std::numeric_limits<std::uint16_t>::max()));
}

double mean_of(float sum, float count) {
  return count > 0.0F ? static_cast<double>(sum) / count : 0.0;
}

double budget_per_test(const LevelDriftOptions& options) {
  const double periods_per_day = seconds(kDay) / seconds(options.period);
  return options.false_alarms_per_day / (options.fleet_pairs * periods_per_day * kTests);
}

}  // namespace

DriftDetector::DriftDetector(const LevelDriftOptions& options)
    : options_(options),
      clock_(options.period, options.settle),
      log_p_(std::log(budget_per_test(options))),
      reference_periods_(periods_in(options.reference, options.period)),
      least_reference_periods_(periods_in(options.least_reference, options.period)),
      relearn_periods_(periods_in(options.relearn_after, options.period)),
      used_classes_(kClasses) {
  BONESCAN_CHECK(kDay % options.period == Duration::zero());
  BONESCAN_CHECK(least_reference_periods_ >= 2);
  BONESCAN_CHECK(reference_periods_ >= least_reference_periods_);
  BONESCAN_CHECK(options.least_factor > 1.0);
  BONESCAN_CHECK(log_p_ < 0.0);
  const DriftClassOptions of_class{.slots_per_day = static_cast<std::size_t>(kDay / options.period),
                                   .common_least = options.common_least,
                                   .ewma_weight = options.ewma_weight};
  classes_.assign(kClasses, DriftClass(of_class));
  used_classes_[0] = 1;
}

void DriftDetector::set_class(PairId pair, std::uint8_t pair_class) {
  states_.at(pair).pair_class = pair_class;
  used_classes_[pair_class] = 1;
}

void DriftDetector::release(PairRange pairs) {
  states_.release(pairs.first, pairs.count);
  std::erase_if(fresh_, [&](const Verdict& verdict) { return pairs.holds(verdict.pair); });
}

void DriftDetector::observe(Time now, std::span<const ObservedVisit> visits) {
  close_due(now);
  for (const ObservedVisit& visit : visits) {
    if (const auto median_us = visit_median_us(visit.rtts_ns, visit.cold, scratch_)) {
      add_level(visit.pair, visit.start, *median_us);
    }
  }
}

void DriftDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  close_due(now);
  verdicts.insert(verdicts.end(), fresh_.begin(), fresh_.end());
  fresh_.clear();
}

void DriftDetector::add_level(PairId pair, Time at, double median_us) {
  const std::int64_t period = clock_.period_of(at);
  if (!clock_.accepts(period)) {
    return;
  }
  PairState& state = states_.at(pair);
  const std::size_t slot = PeriodClock::slot(period);
  if (state.count[slot] == std::numeric_limits<std::uint16_t>::max()) {
    return;
  }
  const std::int64_t level = level_of_us(median_us);
  state.levels[slot] += level;
  ++state.count[slot];
  const double above = log_of_level(level) - state.reference - state.common;
  if (state.learned > 0 && above >= 0.5 * least_effect(state)) {
    ++state.high[slot];
  }
}

bool DriftDetector::still_high(PairId pair, double median_us) const {
  const PairState& state = states_.value(pair);
  return state.alarmed != 0 &&
         std::log(median_us) - state.reference - state.common >= 0.5 * least_effect(state);
}

// ln(1.05), or 1 us of the reference if that is less.
double DriftDetector::least_effect(const PairState& state) const {
  return std::log(
      std::min(options_.least_factor,
               1.0 + options_.least_shift_us / std::exp(static_cast<double>(state.reference))));
}

void DriftDetector::close_due(Time now) {
  clock_.close_due(now, [this](std::int64_t period) { close_period(period); });
}

DriftDetector::Aggregate DriftDetector::aggregate(const PairState& state, std::size_t slot) const {
  if (state.count[slot] < std::max<std::uint16_t>(options_.least_samples, 1)) {
    return {};
  }
  const double n = state.count[slot];
  return {.level = log_of_level(state.levels[slot]) / n,
          .high_share = state.high[slot] / n,
          .heard = true};
}

void DriftDetector::close_period(std::int64_t period) {
  fresh_.clear();
  const std::size_t slot = PeriodClock::slot(period);
  for (std::size_t c = 0; c < kClasses; ++c) {
    if (used_classes_[c] != 0) {
      classes_[c].open_period();
    }
  }
  states_.for_each([&](PairId, PairState& state) {
    if (const Aggregate heard = aggregate(state, slot); heard.heard && state.learned > 0) {
      classes_[state.pair_class].add(static_cast<float>(heard.level - state.reference),
                                     state.alarmed == 0);
    }
  });
  for (std::size_t c = 0; c < kClasses; ++c) {
    if (used_classes_[c] != 0) {
      classes_[c].find_common(period);
    }
  }
  states_.for_each([&](PairId pair, PairState& state) {
    if (state.count[slot] == 0) {
      return;
    }
    const Aggregate heard = aggregate(state, slot);
    state.levels[slot] = 0;
    state.count[slot] = 0;
    state.high[slot] = 0;
    if (heard.heard) {
      settle(pair, state, period, heard);
    }
  });
  for (std::size_t c = 0; c < kClasses; ++c) {
    if (used_classes_[c] != 0) {
      const auto movement = classes_[c].movement();
      classes_[c].hold(movement && movement->log_p <= log_p_);
      classes_[c].close_period();
    }
  }
}

void DriftDetector::settle(PairId pair,
                           PairState& state,
                           std::int64_t period,
                           const Aggregate& heard) {
  const DriftClass& mine = classes_[state.pair_class];
  if (!mine.comparable()) {
    return;
  }
  state.common = static_cast<float>(mine.common());
  double deviation = heard.level - state.reference - mine.common();
  if (state.learned == 0) {
    state.reference = static_cast<float>(heard.level - mine.common());
    state.learned = 1;
    state.before = {};
    state.run = 1;
    state.last_period = static_cast<std::int32_t>(period);
    return;
  }
  if (state.learned < reference_periods_ && state.alarmed == 0) {
    learn(state, deviation);
    deviation = heard.level - state.reference - mine.common();
  }
  if (state.last_period + 1 != period) {
    state.run = 0;
  }
  if (state.run > 0 && state.alarmed == 0 && state.suspect == 0) {
    teach(state, deviation);
  }
  if (state.learned >= least_reference_periods_ && mine.trusted()) {
    step(state, deviation, spread(state));
    judge(pair, state, period, heard, deviation);
  }
  state.before = {static_cast<float>(deviation), state.before[0], state.before[1]};
  state.run = static_cast<std::uint8_t>(std::min(state.run + 1, 3));
  state.last_period = static_cast<std::int32_t>(period);
}

void DriftDetector::learn(PairState& state, double deviation) const {
  ++state.learned;
  state.reference += static_cast<float>(deviation / state.learned);
}

void DriftDetector::teach(PairState& state, double deviation) {
  DriftClass& mine = classes_[state.pair_class];
  const double one = deviation - state.before[0];
  const double three = deviation - state.before[2];
  const bool whole = state.run == state.before.size();
  const double usual_one = std::max(mine.one(), mean_of(state.ones, state.steps));
  const double usual_three = std::max(mine.three(), mean_of(state.threes, state.steps));
  mine.add_one(one * one);
  if (mine.trusted() && one * one > kJump * usual_one) {
    // A step of the level: differences across it would pass for persistence.
    state.run = 0;
    if (state.steps > 0.0F) {
      state.ones += static_cast<float>(std::min(one * one, kBound * usual_one));
      state.threes += static_cast<float>(usual_three);
      state.steps += 1.0F;
    }
    return;
  }
  if (!whole) {
    return;
  }
  mine.add_three(three * three);
  if (!mine.trusted()) {
    return;
  }
  state.ones += static_cast<float>(one * one);
  state.threes +=
      static_cast<float>(std::min(three * three, kBound * std::max(usual_one, usual_three)));
  state.steps += 1.0F;
  const auto most = static_cast<float>(options_.pair_steps);
  if (state.steps > most) {
    // Forgets as fast as it learns.
    const float kept = most / state.steps;
    state.ones *= kept;
    state.threes *= kept;
    state.steps = most;
  }
  if (state.steps >= kSpreadLeast) {
    mine.add_spread(state.ones / state.steps, state.steps * kWorth);
  }
}

DriftDetector::Spread DriftDetector::spread(const PairState& state) const {
  const DriftClass& mine = classes_[state.pair_class];
  Spread pair;
  const double worth = state.steps * kWorth;
  pair.degrees = mine.degrees() + worth;
  double one = (mine.degrees() * mine.one() + state.ones * kWorth) / pair.degrees;
  if (state.steps >= kSpreadLeast) {
    const double own_one = mean_of(state.ones, state.steps);
    if (own_one > one * (1.0 + kStranger * std::sqrt(2.0 / worth))) {
      one = own_one;
      pair.degrees = worth;
    }
  }
  // Of the two autocorrelations the one that doubts more: a pair that swings more slowly than its
  // class would otherwise be accused of every swing.
  const double own = phi_of_differences(kPhiPrior * mine.one() + state.ones,
                                        kPhiPrior * mine.three() + state.threes);
  pair.phi = std::max(mine.phi(), own);
  pair.variance = variance_of_differences(one, pair.phi);
  pair.sd = std::sqrt(pair.variance * (1.0 - pair.phi * pair.phi));
  return pair;
}

void DriftDetector::step(PairState& state, double deviation, const Spread& pair) {
  state.ewma += static_cast<float>(options_.ewma_weight * (deviation - state.ewma));
  const double u = (deviation - pair.phi * state.before[0]) / pair.sd;
  const double sum = state.cusum + std::clamp(u, -kMostStep, kMostStep) - options_.cusum_slack;
  if (sum <= 0.0) {
    state.cusum = 0.0F;
    state.cusum_levels = 0.0F;
    state.cusum_steps = 0;
    return;
  }
  state.cusum = static_cast<float>(sum);
  state.cusum_levels += static_cast<float>(deviation);
  state.cusum_steps = static_cast<std::uint16_t>(
      std::min<int>(state.cusum_steps + 1, std::numeric_limits<std::uint16_t>::max()));
}

DriftDetector::Finding DriftDetector::finding(const PairState& state, const Spread& pair) const {
  const double reference = mean_variance_factor(state.learned, pair.phi);
  const double error = ewma_variance_factor(options_.ewma_weight, pair.phi) + reference;
  Finding found;
  found.z = student_as_normal(state.ewma / std::sqrt(pair.variance * error), pair.degrees);
  found.log_p = normal_log_sf(found.z);
  found.level = state.ewma;
  // The error of the reference, in units of u.
  const double mean_error = (1.0 - pair.phi) * std::sqrt(pair.variance * reference) / pair.sd;
  const double sum_log_p = cusum_log_p(state.cusum, options_.cusum_slack, mean_error);
  if (sum_log_p < kDull) {
    const double z = student_as_normal(normal_z_of_log_sf(sum_log_p), pair.degrees);
    if (const double log_p = normal_log_sf(z); log_p < found.log_p) {
      found.log_p = log_p;
      found.level = state.cusum_levels / static_cast<double>(state.cusum_steps);
    }
  }
  return found;
}

void DriftDetector::judge(
    PairId pair, PairState& state, std::int64_t period, const Aggregate& heard, double deviation) {
  const DriftClass& mine = classes_[state.pair_class];
  const Finding found = finding(state, spread(state));
  state.suspect = found.z > kSuspicion ? 1 : 0;
  if (state.alarmed != 0) {
    follow(pair, state, period, deviation, found.log_p);
    return;
  }
  // Without a class to compare with, only a whole day is a reference.
  if (!mine.has_common() && state.learned < reference_periods_) {
    return;
  }
  const double effect = least_effect(state);
  if (found.log_p <= log_p_ && found.level >= effect && heard.high_share >= kHighShare) {
    state.alarmed = kAlone;
    report(pair, period, deviation, found.log_p);
    return;
  }
  const auto movement = mine.movement();
  const double moved = deviation + mine.common() - mine.expected();
  if (movement && movement->log_p <= log_p_ && movement->level >= effect && moved >= effect) {
    state.alarmed = kWithClass;
    report(pair, period, moved, movement->log_p);
    return;
  }
  if (normal_log_sf(-found.z) <= log_p_ && -state.ewma >= effect && -moved >= 0.5 * effect) {
    forget(state);  // Faster for good: a later rise is measured from here.
  }
}

void DriftDetector::follow(
    PairId pair, PairState& state, std::int64_t period, double deviation, double log_p) {
  const bool over = deviation < 0.5 * least_effect(state);
  if (!over && ++state.alarmed_periods < relearn_periods_) {
    report(pair, period, deviation, log_p);
    return;
  }
  state.alarmed = 0;
  state.alarmed_periods = 0;
  state.ewma = 0.0F;
  state.cusum = 0.0F;
  state.cusum_levels = 0.0F;
  state.cusum_steps = 0;
  if (!over) {
    forget(state);
  }
}

void DriftDetector::report(PairId pair, std::int64_t period, double deviation, double log_p) {
  fresh_.push_back({.at = clock_.start_of(period + 1),
                    .pair = pair,
                    .kind = VerdictKind::kAnomalous,
                    .rule = VerdictRule::kDrift,
                    .score = static_cast<float>(normal_z_of_log_sf(log_p)),
                    .factor = static_cast<float>(std::exp(deviation)),
                    .log_p = static_cast<float>(log_p)});
}

void DriftDetector::forget(PairState& state) {
  state.learned = 0;
  state.ewma = 0.0F;
  state.cusum = 0.0F;
  state.cusum_levels = 0.0F;
  state.cusum_steps = 0;
  state.before = {};
  state.run = 0;
  state.suspect = 0;
  state.alarmed = 0;
  state.alarmed_periods = 0;
}

}  // namespace bonescan
