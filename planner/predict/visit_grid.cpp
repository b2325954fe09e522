#include "planner/predict/visit_grid.h"

#include "detectors/schedule/counter_phase.h"
#include "planner/predict/turns.h"
#include "sim/base/check.h"
#include "sim/base/rng_stream.h"
#include "skeleton/target_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bonescan {
namespace {

/// Bresenham's line: `visits` spread evenly over `periods`, shifted by `shift` of the unit.
std::vector<std::uint32_t> even(std::uint64_t visits, std::uint64_t periods, std::uint64_t shift) {
  std::vector<std::uint32_t> by_period(periods);
  for (std::uint64_t n = 0; n < periods; ++n) {
    by_period[n] = static_cast<std::uint32_t>(((n + 1) * visits + shift) / periods -
                                              (n * visits + shift) / periods);
  }
  return by_period;
}

/// Longer lists are taken for even: their visits are spread that way but for a few.
constexpr std::uint32_t kMostColoured = 64;

/// Of the lists that stand for all others.
constexpr std::uint64_t kListSeed = 1;

/// Visits that meet one RNIC of a rail, by period of the sweep, for every RNIC: its own, and those
/// of the others, which fall where counter_phase() puts them.
std::vector<std::vector<std::uint32_t>> visits_of_rnics(std::uint32_t list_length) {
  std::vector<EndpointId> members;
  PingLists lists(list_length + 1);
  for (std::uint32_t i = 0; i <= list_length; ++i) {
    members.emplace_back(i);
    for (std::uint32_t j = 0; j <= list_length; ++j) {
      if (j != i) {
        lists[i].emplace_back(j);
      }
    }
    // As lists come: in no order.  How far odd lists are off depends on it.
    shuffle_targets(lists[i], RngStream(kListSeed, Purpose::kSkeletonOrder, i));
  }
  counter_phase(members, lists);
  std::vector<std::vector<std::uint32_t>> visits(list_length + 1,
                                                 std::vector<std::uint32_t>(list_length, 1));
  for (const std::vector<EndpointId>& list : lists) {
    for (std::size_t place = 0; place < list.size(); ++place) {
      ++visits[list[place].index()][place];
    }
  }
  return visits;
}

std::vector<VisitPattern> patterns_of_rnics(std::uint32_t list_length) {
  const std::vector<std::vector<std::uint32_t>> visits = visits_of_rnics(list_length);
  const std::size_t all = visits.size() * list_length;
  const std::size_t taken = std::min(all, kMostPatterns);
  std::vector<VisitPattern> patterns;
  for (std::size_t i = 0; i < taken; ++i) {
    const std::size_t place = (2 * i + 1) * all / (2 * taken);
    std::vector<std::uint32_t> by_period = visits[place / list_length];
    const auto turn = static_cast<std::ptrdiff_t>(place % list_length);
    std::rotate(by_period.begin(), by_period.begin() + turn, by_period.end());
    patterns.emplace_back(std::move(by_period));
  }
  return patterns;
}

}  // namespace

VisitPattern::VisitPattern(std::vector<std::uint32_t> by_period)
    : by_period_(std::move(by_period)) {
  BONESCAN_CHECK(!by_period_.empty());
  sums_.push_back(0);
  for (const std::uint32_t visits : by_period_) {
    sums_.push_back(sums_.back() + visits);
  }
  BONESCAN_CHECK(sums_.back() > 0);
}

std::uint64_t VisitPattern::until(std::uint64_t period) const {
  const std::uint64_t periods = period + 1;
  return periods / by_period_.size() * sums_.back() + sums_[periods % by_period_.size()] - first();
}

std::uint64_t VisitPattern::period_of(std::uint64_t count) const {
  const std::uint64_t wanted = count + first();
  const std::uint64_t sweeps = (wanted - 1) / sums_.back();
  const std::uint64_t rest = wanted - sweeps * sums_.back();
  const auto place = std::lower_bound(sums_.begin(), sums_.end(), rest);
  return sweeps * by_period_.size() + static_cast<std::uint64_t>(place - sums_.begin()) - 1;
}

std::vector<VisitPattern> visit_patterns(const PlannedSchedule& schedule, std::uint32_t pairs) {
  BONESCAN_CHECK(schedule.list_length > 0);
  BONESCAN_CHECK(pairs > 0);
  const std::uint64_t periods = schedule.list_length;
  std::vector<VisitPattern> patterns;
  if (!schedule.counter_phase && pairs == 2) {
    // One visit at a rotation, the other one anywhere.
    const std::uint64_t all = periods * periods;
    const std::uint64_t taken = std::min<std::uint64_t>(all, kMostPatterns);
    for (std::uint64_t i = 0; i < taken; ++i) {
      const std::uint64_t place = (2 * i + 1) * all / (2 * taken);
      // Coprime steps through the second place, so that a sample of both is even.
      const std::uint64_t second = taken == all ? place % periods : i * 377 % periods;
      std::vector<std::uint32_t> by_period(periods, 0);
      ++by_period[place / periods];
      ++by_period[second];
      patterns.emplace_back(std::move(by_period));
    }
    return patterns;
  }
  if (schedule.counter_phase && pairs == 2 * schedule.list_length &&
      schedule.list_length <= kMostColoured) {
    return patterns_of_rnics(schedule.list_length);
  }
  return even_patterns(schedule, pairs);
}

std::vector<VisitPattern> even_patterns(const PlannedSchedule& schedule, std::uint32_t pairs) {
  const std::uint64_t periods = schedule.list_length;
  std::vector<VisitPattern> patterns;
  const std::uint64_t unit = std::gcd(static_cast<std::uint64_t>(pairs), periods);
  const std::uint64_t all = periods / unit;
  const std::uint64_t taken = std::min<std::uint64_t>(all, kMostPatterns);
  for (std::uint64_t i = 0; i < taken; ++i) {
    patterns.emplace_back(even(pairs, periods, unit * ((2 * i + 1) * all / (2 * taken))));
  }
  return patterns;
}

double ReportDelay::within(std::uint64_t turns) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < by_turns.size() && i <= turns; ++i) {
    sum += by_turns[i];
  }
  return sum;
}

ReportDelay report_delay(const PlannedSchedule& schedule, const PlannedNoise& noise) {
  const Duration visit = schedule.visit;
  // A visit is due a spacing, less the phase of its source, before the turn that collects it: half
  // of a spacing on average.
  const Duration slack = visit / (2 * std::max<std::int64_t>(schedule.probes_per_visit, 1));
  const std::uint64_t patience = turns_of(schedule.lateness - slack, visit);
  const std::uint64_t most = turns_of(noise.late_by, visit);
  // late[j]: a report comes j turns late.
  std::vector<double> late(most + 1, 0.0);
  for (std::uint64_t j = 1; j <= most; ++j) {
    const double from = seconds(static_cast<std::int64_t>(j - 1) * visit);
    const double to =
        std::min(seconds(static_cast<std::int64_t>(j) * visit), seconds(noise.late_by));
    late[j] = noise.late_report_share * (to - from) / seconds(noise.late_by);
  }
  double own_lost = noise.lost_report_share;
  double on_time = 1.0 - noise.lost_report_share;
  for (std::uint64_t j = 1; j <= most; ++j) {
    on_time -= late[j];
    own_lost += j > patience ? late[j] : 0.0;  // given up before it comes
  }
  const auto own_within = [&](std::uint64_t turns) {
    double sum = on_time;
    for (std::uint64_t j = 1; j <= std::min({turns, most, patience}); ++j) {
      sum += late[j];
    }
    return sum;
  };
  // One that is `before` visits older holds it back for as long as it is itself away.
  const auto blocks_longer = [&](std::uint64_t turns) {
    double sum = turns < patience ? noise.lost_report_share : 0.0;
    for (std::uint64_t j = turns + 1; j <= most; ++j) {
      sum += turns < patience ? late[j] : 0.0;
    }
    return sum;
  };
  ReportDelay delay;
  delay.lost = own_lost;
  double before = 0.0;
  for (std::uint64_t turns = 0; turns <= patience; ++turns) {
    double within = own_within(turns);
    for (std::uint64_t older = 1; older + turns < patience; ++older) {
      within *= 1.0 - blocks_longer(older + turns);
    }
    delay.by_turns.push_back(within - before);
    before = within;
  }
  return delay;
}

double exposed_share(const PlannedSchedule& schedule, double into, std::uint32_t probes) {
  const double count = schedule.probes_per_visit;
  // Probe j is sent (phase + j) / count into the period; `probes` of them are sent after the onset
  // if number count - probes is.
  return std::clamp(1.0 - (into * count - (count - probes)), 0.0, 1.0);
}

}  // namespace bonescan
