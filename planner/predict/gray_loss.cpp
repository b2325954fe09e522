#include "planner/predict/gray_loss.h"

#include "planner/predict/loss_rule.h"
#include "planner/predict/turns.h"
#include "planner/predict/visit_grid.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace bonescan {
namespace {

/// From so many turns on, on average, only their number counts; and in so many cells of it.
constexpr double kRareTurns = 2'000.0;
constexpr double kCellsOfRare = 500.0;

/// Cells of a visit period, where many visits decide.
constexpr std::size_t kCoarseCells = 8;

/// Turns until so many visits have been made and heard, `counted` of them in period 0.
void add_turns(const std::vector<VisitsToAlarm::Share>& shares,
               const VisitPattern& pattern,
               const ReportDelay& reports,
               std::uint64_t counted,
               std::uint64_t more_turns,
               Turns& turns) {
  for (const VisitsToAlarm::Share& one : shares) {
    // Those whose reports are lost were made for nothing.
    const auto made = static_cast<std::uint64_t>(
        std::ceil(static_cast<double>(one.visits) / (1.0 - reports.lost) - 0.5));
    const std::uint64_t period = made <= counted ? 0 : pattern.period_of(made - counted);
    for (std::size_t late = 0; late < reports.by_turns.size(); ++late) {
      const std::uint64_t turn = period + 1 + late + more_turns;
      if (turn > kMostTurns) {
        continue;
      }
      if (turns.size() <= turn) {
        turns.resize(turn + 1, 0.0);
      }
      turns[turn] += one.share * reports.by_turns[late] / (1.0 - reports.lost);
    }
  }
}

/// Where a visit is too short to be silent, a directed pair is after several of its visits.
void add_slow_silence(const PlannedSchedule& schedule,
                      const PlannedFailure& failure,
                      VisitsToAlarm& alarm) {
  const std::uint64_t visits =
      (schedule.consecutive + schedule.probes_per_visit - 1) / schedule.probes_per_visit;
  const std::uint64_t silent = 1 + (visits - 1) * failure.pairs;
  const bool sooner = alarm.pooled.empty() || silent < alarm.pooled.front().visits;
  if (sooner) {
    alarm.pooled.clear();
    alarm.silent = {{silent, 1.0}};
    alarm.never = 0.0;
  }
}

/// So long that turns and patterns do not matter: visits are as far apart as they are on average.
DelayPrediction by_rare_visits(const PlannedSchedule& schedule,
                               const VisitsToAlarm& alarm,
                               double turns_a_visit,
                               std::uint64_t more_turns) {
  const double width = std::ceil(alarm.mean() * turns_a_visit / kCellsOfRare);
  std::vector<double> masses;
  const auto add = [&](const std::vector<VisitsToAlarm::Share>& shares, std::uint64_t more) {
    for (const VisitsToAlarm::Share& one : shares) {
      // The first of them comes half a gap after the onset on average, and its period ends then.
      const double turns =
          (static_cast<double>(one.visits) - 0.5) * turns_a_visit + 0.5 + static_cast<double>(more);
      const auto cell = static_cast<std::size_t>(turns / width);
      masses.resize(std::max(masses.size(), cell + 1), 0.0);
      masses[cell] += one.share;
    }
  };
  add(alarm.pooled, more_turns);
  add(alarm.silent, 0);
  return {schedule.timeout, from_seconds(width * seconds(schedule.visit)), std::move(masses)};
}

}  // namespace

DelayPrediction predict_gray_loss(const PlannedSchedule& schedule,
                                  const PlannedFailure& failure,
                                  const PlannedNoise& noise) {
  const bool paper = schedule.configuration == DetectionConfiguration::kPaper;
  const double rate = static_cast<double>(failure.pairs) / schedule.list_length;
  const bool alone = failure.pairs <= kBothWays;
  // The published vote accuses no link of a single failing path.
  const LossRule rule = paper && alone ? LossRule{{-1}} : loss_rule(schedule, noise, rate);
  VisitsToAlarm alarm = visits_to_alarm(schedule, rule, failure.size);
  if (failure.size >= 1.0) {
    add_slow_silence(schedule, failure, alarm);
  }
  const std::uint64_t patience = alone ? turns_of(kLonePatience, schedule.visit) : 0;
  if (alarm.mean() / rate > kRareTurns) {
    return by_rare_visits(schedule, alarm, 1.0 / rate, patience);
  }
  const ReportDelay reports = report_delay(schedule, noise);
  // Over many visits it does not matter which periods have one more.
  const std::vector<VisitPattern> patterns =
      alone ? visit_patterns(schedule, failure.pairs) : even_patterns(schedule, failure.pairs);
  const double weight = 1.0 / static_cast<double>(patterns.size());
  Gatherer gatherer(schedule, kCoarseCells);
  for (const VisitPattern& pattern : patterns) {
    std::map<std::uint64_t, Turns> by_counted;
    for (std::size_t cell = 0; cell < gatherer.cells(); ++cell) {
      // Half a visit counts for half.
      const double exposed = 1.0 - gatherer.into(cell);
      const std::uint64_t first = pattern.first();
      std::vector<double> shares = counted_visits(first, exposed, first);
      if (first > kBothWays) {
        const double mean = exposed * static_cast<double>(first);
        std::fill(shares.begin(), shares.end(), 0.0);
        const auto below = static_cast<std::size_t>(mean);
        shares[below] = 1.0 - (mean - static_cast<double>(below));
        shares[std::min<std::size_t>(below + 1, first)] += mean - static_cast<double>(below);
      }
      for (std::size_t counted = 0; counted < shares.size(); ++counted) {
        if (shares[counted] <= 0.0) {
          continue;
        }
        Turns& turns = by_counted[counted];
        if (turns.empty()) {
          add_turns(alarm.pooled, pattern, reports, counted, patience, turns);
          add_turns(alarm.silent, pattern, reports, counted, paper ? patience : 0, turns);
        }
        gatherer.add(cell, turns, weight * shares[counted]);
      }
    }
  }
  return gatherer.finish();
}

}  // namespace bonescan
