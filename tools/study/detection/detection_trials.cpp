#include "tools/study/detection/detection_trials.h"

#include "sim/base/rng_stream.h"
#include "tools/study/detection/learned_nulls.h"
#include "tools/study/detection/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace bonescan {
namespace {

constexpr std::uint64_t kFirstSeed = 400'000;
constexpr std::uint32_t kWarmS = 420;
constexpr Duration kMergeGap = std::chrono::seconds(60);

bool accuses(const Verdict& verdict) {
  return verdict.kind == VerdictKind::kAnomalous || verdict.kind == VerdictKind::kUnreachable;
}

/// A detector in a trial.
struct Contestant {
  std::unique_ptr<Detector> detector;
  std::vector<Verdict> verdicts;
  TrialOutcome outcome;
  std::uint64_t false_alarms = 0;
};

std::vector<Contestant> contestants(const std::vector<DetectorEntry>& entries,
                                    const NoiseFleet& fleet,
                                    const LearnedNulls* learned) {
  std::vector<Contestant> all;
  for (const DetectorEntry& entry : entries) {
    Contestant one;
    one.detector = entry.make({.pairs = &fleet.pairs(),
                               .sweep = std::chrono::seconds(fleet.plan().sweep_s),
                               .base_loss_ratio = kNoiseBaseLoss,
                               .learned = learned});
    one.detector->resize(fleet.pairs().size());
    for (std::uint32_t p = 0; p < fleet.pairs().size(); ++p) {
      one.detector->set_class(PairId(p), fleet.label(PairId(p)));
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Learnt only where somebody uses it.
const LearnedNulls* learned_by(const std::vector<DetectorEntry>& entries, const FleetPlan& fleet) {
  const bool used = std::any_of(entries.begin(), entries.end(), [](const DetectorEntry& entry) {
    return entry.uses_learned;
  });
  return used ? &learned_nulls(fleet) : nullptr;
}

double mean_of_found(const TrialSeries& series, std::uint64_t TrialOutcome::*count) {
  double sum = 0.0;
  for (const TrialOutcome& outcome : series.outcomes) {
    sum += outcome.delay_s ? static_cast<double>(outcome.*count) : 0.0;
  }
  return sum / std::max(1U, series.found());
}

/// Probes of the turn that crossed the fault in visits that a detector takes later than the one of
/// this pair: in the order of their start, then of pairs.
std::uint64_t probes_after(const NoiseFleet& fleet,
                           std::span<const ObservedVisit> visits,
                           PairId pair) {
  const auto own = std::find_if(visits.begin(), visits.end(), [pair](const ObservedVisit& visit) {
    return visit.pair == pair;
  });
  if (own == visits.end()) {
    return 0;
  }
  std::uint64_t probes = 0;
  for (const ObservedVisit& visit : visits) {
    if (std::tie(visit.start, visit.pair) > std::tie(own->start, own->pair)) {
      probes += fleet.affected_probes_of(visit);
    }
  }
  return probes;
}

TrialOutcome found(const NoiseFleet& fleet,
                   std::span<const ObservedVisit> visits,
                   PairId raised_by,
                   double delay_s) {
  const std::uint64_t sent = fleet.affected_probes();
  return {.delay_s = delay_s,
          .probes = sent - probes_after(fleet, visits, raised_by),
          .probes_sent = sent};
}

struct TrialResult {
  std::vector<TrialOutcome> outcomes;  ///< by entry
  std::vector<std::uint64_t> false_alarms;
  std::uint64_t visits = 0;
};

TrialResult run_trial(const TrialPlan& plan,
                      const std::vector<DetectorEntry>& entries,
                      const LearnedNulls* learned,
                      std::uint64_t seed) {
  NoiseFleet fleet(plan.fleet, seed);
  const double onset_s =
      plan.warm_s + plan.fleet.sweep_s * RngStream(seed, Purpose::kDetectionOnset, 0).open01_at(0);
  fleet.set_fault(plan.fault, onset_s);
  const Time onset = kStartOfRun + from_seconds(onset_s);
  std::vector<Contestant> all = contestants(entries, fleet, learned);
  std::vector<IncidentCount> incidents(all.size(), IncidentCount(fleet.pairs()));
  TrialResult result;
  std::size_t searching = all.size();
  const auto last = static_cast<std::uint32_t>(onset_s + plan.watch_s);
  for (std::uint32_t turn = 0; turn <= last && searching != 0; ++turn) {
    const std::span<const ObservedVisit> visits = fleet.turn(turn);
    const Time now = NoiseFleet::handed_on(turn);
    const bool before = now <= onset;
    result.visits += before ? visits.size() : 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      Contestant& one = all[i];
      if (one.outcome.delay_s) {
        continue;
      }
      one.detector->observe(now, visits);
      one.verdicts.clear();
      one.detector->evaluate(now, one.verdicts);
      for (const Verdict& verdict : one.verdicts) {
        if (before) {
          incidents[i].add(verdict);
        } else if (accuses(verdict) && fleet.affected(verdict.pair) && !one.outcome.delay_s) {
          const PairId raised_by =
              entries[i].raised_by ? entries[i].raised_by(*one.detector, verdict) : PairId();
          one.outcome = found(fleet, visits, raised_by, seconds(now - onset));
          --searching;
        }
      }
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].outcome.delay_s && *all[i].outcome.delay_s > plan.watch_s) {
      all[i].outcome = {};
    }
    result.outcomes.push_back(all[i].outcome);
    result.false_alarms.push_back(incidents[i].count());
  }
  return result;
}

}  // namespace

std::uint64_t trial_seed(SeedParity parity, std::uint32_t i) {
  return kFirstSeed + 2 * std::uint64_t{i} + (parity == SeedParity::kOdd ? 1 : 0);
}

std::uint32_t TrialSeries::found() const {
  return static_cast<std::uint32_t>(
      std::count_if(outcomes.begin(), outcomes.end(), [](const TrialOutcome& outcome) {
        return outcome.delay_s.has_value();
      }));
}

double TrialSeries::mean_s(double missed_s) const {
  double sum = 0.0;
  for (const TrialOutcome& outcome : outcomes) {
    sum += outcome.delay_s.value_or(missed_s);
  }
  return sum / static_cast<double>(outcomes.size());
}

double TrialSeries::quantile_s(double share) const {
  std::vector<double> delays;
  for (const TrialOutcome& outcome : outcomes) {
    delays.push_back(outcome.delay_s.value_or(std::numeric_limits<double>::infinity()));
  }
  std::sort(delays.begin(), delays.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(delays.size())));
  return delays[std::clamp<std::size_t>(rank, 1, delays.size()) - 1];
}

double TrialSeries::mean_probes() const {
  return mean_of_found(*this, &TrialOutcome::probes);
}

double TrialSeries::mean_probes_sent() const {
  return mean_of_found(*this, &TrialOutcome::probes_sent);
}

double TrialSeries::found_within(double limit_s) const {
  const auto count =
      std::count_if(outcomes.begin(), outcomes.end(), [limit_s](const TrialOutcome& outcome) {
        return outcome.delay_s && *outcome.delay_s <= limit_s;
      });
  return static_cast<double>(count) / static_cast<double>(outcomes.size());
}

std::vector<TrialSeries> run_trials(const TrialPlan& plan,
                                    const std::vector<DetectorEntry>& entries,
                                    SeedParity parity,
                                    std::uint32_t threads) {
  std::vector<TrialResult> results(plan.trials);
  const LearnedNulls* learned = learned_by(entries, plan.fleet);
  run_parallel(plan.trials, threads, [&](std::uint32_t i) {
    results[i] = run_trial(plan, entries, learned, trial_seed(parity, i));
  });
  std::vector<TrialSeries> series(entries.size());
  for (const TrialResult& result : results) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      series[i].outcomes.push_back(result.outcomes[i]);
      series[i].false_alarms += result.false_alarms[i];
      series[i].visits += result.visits;
    }
  }
  return series;
}

IncidentCount::IncidentCount(const PairTable& pairs)
    : pairs_(&pairs), last_(pairs.size(), Time::min()) {}

void IncidentCount::add(const Verdict& verdict) {
  if (!accuses(verdict)) {
    return;
  }
  if (verdict.rule == VerdictRule::kPooledLoss) {
    count_ += last_pooled_ == Time::min() || verdict.at - last_pooled_ >= kMergeGap ? 1 : 0;
    last_pooled_ = verdict.at;
    return;
  }
  Time last = last_[verdict.pair.index()];
  const Pair back = (*pairs_)[verdict.pair].reversed();
  // Both directions of a pair were added one after the other.
  const std::uint32_t other = verdict.pair.index() ^ 1U;
  if (other < last_.size() && (*pairs_)[PairId(other)] == back) {
    last = std::max(last, last_[other]);
  }
  count_ += last == Time::min() || verdict.at - last >= kMergeGap ? 1 : 0;
  last_[verdict.pair.index()] = verdict.at;
}

std::vector<NullSeries> run_null(const FleetPlan& fleet_plan,
                                 const std::vector<DetectorEntry>& entries,
                                 SeedParity parity,
                                 std::uint32_t runs,
                                 std::uint32_t seconds,
                                 std::uint32_t threads) {
  const LearnedNulls* learned = learned_by(entries, fleet_plan);
  std::vector<std::vector<NullSeries>> results(runs, std::vector<NullSeries>(entries.size()));
  run_parallel(runs, threads, [&](std::uint32_t run) {
    NoiseFleet fleet(fleet_plan, trial_seed(parity, run));
    std::vector<Contestant> all = contestants(entries, fleet, learned);
    std::vector<IncidentCount> incidents(all.size(), IncidentCount(fleet.pairs()));
    for (std::uint32_t turn = 0; turn < kWarmS + seconds; ++turn) {
      const std::span<const ObservedVisit> visits = fleet.turn(turn);
      const Time now = NoiseFleet::handed_on(turn);
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].detector->observe(now, visits);
        all[i].verdicts.clear();
        all[i].detector->evaluate(now, all[i].verdicts);
        if (turn < kWarmS) {
          continue;
        }
        results[run][i].visits += visits.size();
        for (const Verdict& verdict : all[i].verdicts) {
          results[run][i].verdicts += accuses(verdict) ? 1 : 0;
          incidents[i].add(verdict);
        }
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      results[run][i].incidents = incidents[i].count();
    }
  });
  std::vector<NullSeries> sums(entries.size());
  for (const std::vector<NullSeries>& result : results) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      sums[i].incidents += result[i].incidents;
      sums[i].verdicts += result[i].verdicts;
      sums[i].visits += result[i].visits;
    }
  }
  return sums;
}

// P(Poisson(mean) <= count), by its sum; both bounds by bisection.
namespace {

double poisson_cdf(std::uint64_t count, double mean) {
  double log_term = -mean;
  double sum = std::exp(log_term);
  for (std::uint64_t k = 1; k <= count; ++k) {
    log_term += std::log(mean / static_cast<double>(k));
    sum += std::exp(log_term);
  }
  return sum;
}

double mean_with_cdf(std::uint64_t count, double target) {
  double low = 0.0;
  double high =
      10.0 + 2.0 * static_cast<double>(count) + 10.0 * std::sqrt(1.0 + static_cast<double>(count));
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (poisson_cdf(count, middle) > target ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

double poisson_upper(std::uint64_t count) {
  return mean_with_cdf(count, 0.05);
}

double poisson_lower(std::uint64_t count) {
  return count == 0 ? 0.0 : mean_with_cdf(count - 1, 0.95);
}

}  // namespace bonescan
