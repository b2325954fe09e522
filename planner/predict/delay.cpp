#include "planner/predict/delay.h"

#include "planner/predict/gray_loss.h"
#include "planner/predict/late_visits.h"
#include "planner/predict/silent_company.h"
#include "planner/predict/turns.h"
#include "planner/predict/visit_grid.h"
#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace bonescan {
namespace {

constexpr double kNegligible = 1e-6;

/// Cells of a visit period, where one visit decides.
constexpr std::size_t kFineCells = 40;
constexpr std::size_t kCompanyCells = 20;

/// A pair late by this alone is reported at its first late visit, by the other at its second.
/// @source latency_visits.cpp
constexpr double kAloneFactor = 3.0;
constexpr double kAgainFactor = 1.5;

/// Periods of a pattern that decide where each holds visits.
constexpr std::size_t kEarlyPeriods = 4;

/// P(no visit was handed on), P(exactly one).
struct Heard {
  double none = 1.0;
  double one = 0.0;

  void add(std::uint64_t visits, double share) {
    if (visits == 0) {
      return;
    }
    const auto count = static_cast<double>(visits);
    const double none_here = std::pow(1.0 - share, count);
    const double one_here = count * share * std::pow(1.0 - share, count - 1.0);
    one = none * one_here + one * none_here;
    none *= none_here;
  }
};

/// When the first, or second, of the visits that count has been handed on.
/// @param counted of the visits of period 0
/// @param detects probability that a visit which was handed on counts
Turns turns_to_hear(const VisitPattern& pattern,
                    const ReportDelay& reports,
                    std::uint64_t counted,
                    std::uint32_t needed,
                    double detects) {
  Turns turns(1, 0.0);
  const std::uint64_t most_late = reports.by_turns.size();
  const auto visits = [&](std::uint64_t period) {
    return period == 0 ? counted : pattern.at(period);
  };
  Heard settled;  // of periods whose reports have come, or never will
  double before = 0.0;
  for (std::uint64_t turn = 1; turn <= kMostTurns && before < 1.0 - kNegligible; ++turn) {
    if (turn > most_late) {
      settled.add(visits(turn - 1 - most_late), detects * (1.0 - reports.lost));
    }
    Heard heard = settled;
    for (std::uint64_t late = 0; late < std::min(turn, most_late); ++late) {
      heard.add(visits(turn - 1 - late), detects * reports.within(late));
    }
    const double within = 1.0 - heard.none - (needed > 1 ? heard.one : 0.0);
    turns.push_back(std::max(0.0, within - before));
    before = std::max(before, within);
  }
  return turns;
}

/// A rule that single visits satisfy.
struct VisitRule {
  std::uint32_t exposed = 0;  ///< probes of a visit that must be sent after the onset
  std::uint32_t needed = 1;   ///< visits
  double detects = 1.0;       ///< probability that such a visit counts
  std::uint64_t more_turns = 0;
  std::int64_t sooner = 0;  ///< turns, of what need not wait for a timeout
};

/// Patterns with their shares.  Where every sweep brings a visit a period, the first periods
/// decide, and few patterns differ in these.
std::vector<std::pair<VisitPattern, double>> weighted_patterns(const PlannedSchedule& schedule,
                                                               const PlannedFailure& failure) {
  const std::vector<VisitPattern> patterns = visit_patterns(schedule, failure.pairs);
  const double share = 1.0 / static_cast<double>(patterns.size());
  const bool early = failure.pairs >= schedule.list_length;
  std::map<std::vector<std::uint32_t>, double> by_start;
  for (const VisitPattern& pattern : patterns) {
    std::vector<std::uint32_t> start = pattern.by_period();
    if (early && start.size() > kEarlyPeriods) {
      start.resize(kEarlyPeriods);
    }
    by_start[std::move(start)] += share;
  }
  std::vector<std::pair<VisitPattern, double>> weighted;
  for (const auto& [start, sum] : by_start) {
    if (std::any_of(start.begin(), start.end(), [](std::uint32_t visits) { return visits > 0; })) {
      weighted.emplace_back(VisitPattern(start), sum);
    }
  }
  return weighted;
}

DelayPrediction by_single_visits(const PlannedSchedule& schedule,
                                 const PlannedFailure& failure,
                                 const PlannedNoise& noise,
                                 const VisitRule& rule) {
  const ReportDelay reports = report_delay(schedule, noise);
  Gatherer gatherer(schedule, kFineCells);
  for (const auto& [pattern, weight] : weighted_patterns(schedule, failure)) {
    std::vector<Turns> by_counted;
    for (std::uint64_t counted = 0; counted <= std::min(pattern.first(), kBothWays); ++counted) {
      by_counted.push_back(turns_to_hear(pattern, reports, counted, rule.needed, rule.detects));
      by_counted.back().insert(by_counted.back().begin(), rule.more_turns, 0.0);
    }
    for (std::size_t cell = 0; cell < gatherer.cells(); ++cell) {
      const double exposed = exposed_share(schedule, gatherer.into(cell), rule.exposed);
      const auto shares = counted_visits(pattern.first(), exposed, kBothWays);
      for (std::size_t counted = 0; counted < shares.size(); ++counted) {
        gatherer.add(cell, by_counted[counted], weight * shares[counted]);
      }
    }
  }
  return gatherer.finish(rule.sooner);
}

DelayPrediction not_found(const PlannedSchedule& schedule) {
  return {schedule.timeout, schedule.visit, {}};
}

/// Full loss of what several pairs share.
DelayPrediction by_silent_pairs(const PlannedSchedule& schedule,
                                const PlannedFailure& failure,
                                const PlannedNoise& noise) {
  const ReportDelay reports = report_delay(schedule, noise);
  const std::uint32_t to_accuse = lossy_visits_to_accuse(schedule, noise, failure.pairs);
  const auto silent = static_cast<std::uint32_t>(schedule.consecutive);
  Gatherer gatherer(schedule, kCompanyCells);
  for (const auto& [pattern, share] : weighted_patterns(schedule, failure)) {
    for (std::size_t cell = 0; cell < gatherer.cells(); ++cell) {
      const double into = gatherer.into(cell);
      FirstVisits first{.silent = exposed_share(schedule, into, silent)};
      first.lossy = exposed_share(schedule, into, 1) - first.silent;
      gatherer.add(cell, turns_of_company(pattern, reports, first, to_accuse), share);
    }
  }
  return gatherer.finish();
}

DelayPrediction predict_loss(const PlannedSchedule& schedule,
                             const PlannedFailure& failure,
                             const PlannedNoise& noise) {
  if (failure.size < 1.0 || schedule.probes_per_visit < schedule.consecutive) {
    return predict_gray_loss(schedule, failure, noise);
  }
  VisitRule rule{.exposed = static_cast<std::uint32_t>(schedule.consecutive)};
  if (schedule.configuration == DetectionConfiguration::kPaper) {
    // Nobody is reported alone before 3 s have passed; a link needs two pairs.
    const bool alone = failure.pairs <= kBothWays;
    rule.needed = alone ? 1 : 2;
    rule.more_turns = alone ? turns_of(kLonePatience, schedule.visit) : 0;
  } else if (failure.pairs >= schedule.list_length) {
    return by_silent_pairs(schedule, failure, noise);
  }
  return by_single_visits(schedule, failure, noise, rule);
}

/// Windows are late when all their visits are: the next one, or of a pair alone the next two.
DelayPrediction predict_windows(const PlannedSchedule& schedule, const PlannedFailure& failure) {
  const bool alone = failure.pairs <= kBothWays;
  const bool measures = schedule.probes_per_visit > 1 || schedule.sweep() <= schedule.max_idle;
  if (!measures || failure.size < (alone ? kAgainFactor : schedule.minimum_factor)) {
    return not_found(schedule);
  }
  // Windows that hold no visit of a pair are no windows of it.
  const auto every = static_cast<std::int64_t>(turns_of(schedule.sweep(), schedule.window));
  const Duration span = std::max<std::int64_t>(every, 1) * schedule.window;
  const auto settle = static_cast<std::int64_t>(turns_of(schedule.lateness, schedule.visit));
  return {schedule.timeout + settle * schedule.visit + (alone ? 2 : 1) * span, span, {1.0}};
}

DelayPrediction predict_latency(const PlannedSchedule& schedule,
                                const PlannedFailure& failure,
                                const PlannedNoise& noise) {
  if (schedule.configuration == DetectionConfiguration::kPaper) {
    return predict_windows(schedule, failure);
  }
  const bool alone = failure.pairs <= kBothWays;
  const double detects = late_visit_probability(schedule, noise, failure.size);
  if (failure.size < (alone ? kAgainFactor : schedule.minimum_factor) || detects < kNegligible) {
    return not_found(schedule);
  }
  const std::uint32_t probes = schedule.probes_per_visit - (schedule.cold() ? 1U : 0U);
  // Answered visits are complete when their period ends: a turn that looks then hears of them.
  const bool at_once = schedule.timeout >= schedule.visit;
  return by_single_visits(schedule,
                          failure,
                          noise,
                          {.exposed = std::max(probes, 1U),
                           .needed = failure.size >= kAloneFactor ? 1U : 2U,
                           .detects = detects,
                           .sooner = at_once ? 1 : 0});
}

}  // namespace

DelayPrediction predict_delay(const PlannedSchedule& schedule,
                              const PlannedFailure& failure,
                              const PlannedNoise& noise) {
  BONESCAN_CHECK(failure.pairs > 0);
  BONESCAN_CHECK(schedule.visit > Duration::zero());
  if (failure.symptom == FailureSymptom::kLatency) {
    BONESCAN_CHECK(failure.size > 1.0);
    return predict_latency(schedule, failure, noise);
  }
  BONESCAN_CHECK(failure.size > 0.0 && failure.size <= 1.0);
  return predict_loss(schedule, failure, noise);
}

}  // namespace bonescan
