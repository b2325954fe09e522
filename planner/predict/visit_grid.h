// When a failing component is visited, and when somebody hears of it.
//
// Time is counted in visit periods from the start of the one in which the failure begins, period 0;
// visits of period n are heard in turn n + 1, which is (n + 1) visit + timeout after that start
// (run_loop.h).  A failure begins anywhere in its period, and anywhere in the sweep: a pattern says
// how many visits of each period of a sweep meet the component, and all of its rotations are as
// likely.  Pure.
#pragma once

#include "planner/predict/schedule.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// Visits that meet the component, by period; repeats after a sweep.
class VisitPattern final {
 public:
  /// REQUIRES: at least one period and one visit.
  explicit VisitPattern(std::vector<std::uint32_t> by_period);

  std::uint32_t first() const { return by_period_[0]; }

  const std::vector<std::uint32_t>& by_period() const { return by_period_; }

  std::uint32_t at(std::uint64_t period) const { return by_period_[period % by_period_.size()]; }

  /// Visits in periods 1 to `period`.
  std::uint64_t until(std::uint64_t period) const;

  /// The period, from 1 on, in which the count-th visit of these lies.  REQUIRES: count > 0.
  std::uint64_t period_of(std::uint64_t count) const;

 private:
  std::vector<std::uint32_t> by_period_;
  std::vector<std::uint64_t> sums_;  ///< [n]: of periods 0 to n - 1
};

/// Patterns that are equally likely, at most kMostPatterns.  Visits are spread evenly over the
/// sweep: half a sweep apart for a pair whose lists are counter-phased.  Of an RNIC (twice its
/// list) they fall where counter_phase() puts those of a rail: one of its own in each period, and
/// none, one or two of the others.  The two visits of a pair whose lists are shuffled may lie in
/// any two periods.  @ours other components, and those of shuffled lists, count as evenly visited
std::vector<VisitPattern> visit_patterns(const PlannedSchedule& schedule, std::uint32_t pairs);

/// Spread evenly, whatever the component is.
std::vector<VisitPattern> even_patterns(const PlannedSchedule& schedule, std::uint32_t pairs);

constexpr std::size_t kMostPatterns = 256;

/// How many turns late a report is handed on.
struct ReportDelay {
  std::vector<double> by_turns;  ///< probability of 0, 1, ... turns; adds up to 1 - lost
  double lost = 0.0;             ///< never

  /// P(handed on within so many turns)
  double within(std::uint64_t turns) const;
};

/// A report is late itself, or stands behind one of the same source that is late, or missing: those
/// wait until they come or `lateness` is over.  @paper none; visit_intake.h
ReportDelay report_delay(const PlannedSchedule& schedule, const PlannedNoise& noise);

/// The share of visits in period 0 of which at least `probes` probes are sent after the failure
/// began, if it begins `into` of the period.
/// A source's first probe comes anywhere in the first spacing of the period (probe_scheduler.h).
/// REQUIRES: 0 <= into < 1
double exposed_share(const PlannedSchedule& schedule, double into, std::uint32_t probes);

}  // namespace bonescan
