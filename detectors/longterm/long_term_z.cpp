#include "detectors/longterm/long_term_z.h"

#include "detectors/longterm/normal_tail.h"
#include "detectors/telemetry/probe.h"
#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

/// Coarser than elsewhere: the sum of squares of a period must fit into 63 bits.
constexpr double kLevelUnitZ = 0x1.0p16;

std::int64_t longest_lag(const LongTermZOptions& options) {
  return *std::max_element(options.lags.begin(), options.lags.end()) / options.period;
}

}  // namespace

LongTermZ::LongTermZ(const LongTermZOptions& options)
    : options_(options),
      clock_(options.period, options.settle),
      ring_(static_cast<std::size_t>(longest_lag(options))),
      fits_(ring_) {
  for (std::size_t i = 0; i < options.lags.size(); ++i) {
    BONESCAN_CHECK(options.lags[i] >= Duration::zero());
    BONESCAN_CHECK(options.lags[i] % options.period == Duration::zero());
    lag_periods_[i] = options.lags[i] / options.period;
  }
  BONESCAN_CHECK(ring_ >= 1);
  BONESCAN_CHECK(static_cast<std::int64_t>(ring_) <= kMostLagPeriods);
}

void LongTermZ::resize(std::size_t pairs) {
  sums_.grow(pairs);
  fits_.grow(pairs);
}

void LongTermZ::release(PairRange pairs) {
  sums_.release(pairs.first, pairs.count);
  fits_.release(pairs.first, pairs.count);
  std::erase_if(fresh_, [&](const Verdict& verdict) { return pairs.holds(verdict.pair); });
}

void LongTermZ::add(Sums& sums, std::size_t slot, double us) {
  const std::int64_t level = std::llround(std::log(us) * kLevelUnitZ);
  sums.levels[slot] += level;
  sums.squares[slot] += level * level;
  ++sums.count[slot];
}

void LongTermZ::observe(Time now, std::span<const ObservedVisit> visits) {
  close_due(now);
  for (const ObservedVisit& visit : visits) {
    const std::int64_t period = clock_.period_of(visit.start);
    if (!clock_.accepts(period)) {
      continue;
    }
    Sums& sums = sums_[visit.pair];
    const std::size_t slot = PeriodClock::slot(period);
    if (options_.form == ZForm::kWithBaselineError) {
      if (const auto median_us = visit_median_us(visit.rtts_ns, visit.cold, scratch_)) {
        add(sums, slot, *median_us);
      }
      continue;
    }
    for (std::size_t i = visit.cold ? 1 : 0; i < visit.rtts_ns.size(); ++i) {
      if (answered(visit.rtts_ns[i]) && visit.rtts_ns[i] > 0) {
        add(sums, slot, visit.rtts_ns[i] / 1e3);
      }
    }
  }
}

void LongTermZ::evaluate(Time now, std::vector<Verdict>& verdicts) {
  close_due(now);
  verdicts.insert(verdicts.end(), fresh_.begin(), fresh_.end());
  fresh_.clear();
}

void LongTermZ::close_due(Time now) {
  clock_.close_due(now, [this](std::int64_t period) { close_period(period); });
}

void LongTermZ::close_period(std::int64_t period) {
  fresh_.clear();
  const std::size_t slot = PeriodClock::slot(period);
  sums_.for_each([&](PairId pair, Sums& sums) {
    if (sums.count[slot] == 0) {
      return;
    }
    const LogMoments later = take(sums, slot);
    if (later.count < options_.least_samples) {
      return;
    }
    Fit* const ring = &fits_[pair];
    compare(pair, ring, period, later);
    ring[static_cast<std::size_t>(period) % ring_] = {static_cast<float>(later.mean),
                                                      static_cast<float>(later.sd),
                                                      static_cast<std::uint32_t>(later.count),
                                                      static_cast<std::int32_t>(period)};
  });
}

LogMoments LongTermZ::take(Sums& sums, std::size_t slot) const {
  LogMoments moments;
  moments.count = sums.count[slot];
  const auto n = static_cast<double>(moments.count);
  moments.mean = static_cast<double>(sums.levels[slot]) / kLevelUnitZ / n;
  const double squares = static_cast<double>(sums.squares[slot]) / (kLevelUnitZ * kLevelUnitZ);
  const double spread = std::max(0.0, squares - n * moments.mean * moments.mean);
  moments.sd_mle = std::sqrt(spread / n);
  moments.sd = moments.count < 2 ? 0.0 : std::sqrt(spread / (n - 1.0));
  sums.levels[slot] = 0;
  sums.squares[slot] = 0;
  sums.count[slot] = 0;
  return moments;
}

const LongTermZ::Fit* LongTermZ::fit_of(const Fit* ring, std::int64_t period) const {
  if (period < 0) {
    return nullptr;
  }
  const Fit& fit = ring[static_cast<std::size_t>(period) % ring_];
  return fit.period == period ? &fit : nullptr;
}

double LongTermZ::z_of(const LogMoments& base, const LogMoments& later) const {
  return options_.form == ZForm::kPublished ? z_published(base, later) : z_two_sample(base, later);
}

// The lag that speaks loudest is the pair's verdict.
void LongTermZ::compare(PairId pair,
                        const Fit* ring,
                        std::int64_t period,
                        const LogMoments& later) {
  double loudest = 0.0;
  double factor = 1.0;
  for (const std::int64_t lag : lag_periods_) {
    const Fit* const fit = lag == 0 ? nullptr : fit_of(ring, period - lag);
    if (fit == nullptr) {
      continue;
    }
    const LogMoments base{.count = fit->count, .mean = fit->mean, .sd = fit->sd};
    const double ratio = std::exp(later.mean - base.mean);
    const double z = z_of(base, later);
    // Equal samples without spread give no number; a spread of zero and a change is infinitely far.
    if (z > loudest && ratio >= options_.least_factor) {
      loudest = z;
      factor = ratio;
    }
  }
  const double log_p = normal_log_sf(loudest);
  if (loudest > 0.0 && log_p <= options_.log_p) {
    fresh_.push_back({.at = clock_.start_of(period + 1),
                      .pair = pair,
                      .kind = VerdictKind::kAnomalous,
                      .rule = VerdictRule::kLongTermZ,
                      .score = static_cast<float>(loudest),
                      .factor = static_cast<float>(factor),
                      .log_p = static_cast<float>(log_p)});
  }
}

}  // namespace bonescan
