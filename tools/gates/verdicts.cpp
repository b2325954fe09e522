#include "tools/gates/verdicts.h"

#include <cmath>
#include <utility>

namespace bonescan {
namespace {

constexpr double kMostTimes = 65536.0;
constexpr int kHalvings = 30;

/// The bound on the side that matters.
std::optional<double> bound_of(const Estimate& estimate, const Limit& limit) {
  return limit.is_least ? estimate.lower : estimate.upper;
}

bool keeps(const Estimate& estimate, const Limit& limit) {
  const auto bound = bound_of(estimate, limit);
  return bound && slack_of(*bound, limit) >= 0;
}

/// How many times the campaign it would take; nullopt if no number would do.
std::optional<std::size_t> trials_needed(const Measured& measured, const Limit& limit) {
  if (!measured.scaled) {
    return std::nullopt;
  }
  double high = 1.0;
  while (!keeps(measured.scaled(high), limit)) {
    high *= 2;
    if (high > kMostTimes) {
      return std::nullopt;
    }
  }
  double low = high / 2;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (keeps(measured.scaled(middle), limit) ? high : low) = middle;
  }
  return static_cast<std::size_t>(std::ceil(static_cast<double>(measured.trials) * high));
}

/// The bound on the other side lies beyond what would be no loss at all.
bool loss_is_proven(const Estimate& estimate, const Limit& limit) {
  if (!limit.loss_beyond) {
    return false;
  }
  return limit.is_least ? estimate.upper && *estimate.upper < *limit.loss_beyond
                        : estimate.lower && *estimate.lower > *limit.loss_beyond;
}

}  // namespace

Estimate scaled_by_root(const Estimate& estimate, double times) {
  Estimate scaled = estimate;
  const double root = std::sqrt(times);
  if (estimate.value && estimate.lower && estimate.upper) {
    scaled.lower = *estimate.value - (*estimate.value - *estimate.lower) / root;
    scaled.upper = *estimate.value + (*estimate.upper - *estimate.value) / root;
  }
  return scaled;
}

double slack_of(double number, const Limit& limit) {
  return limit.is_least ? number - limit.value : limit.value - number;
}

StratumVerdict decide(const Measured& measured,
                      const Limit& limit,
                      DecidedBy by,
                      std::string stratum) {
  StratumVerdict verdict{.stratum = std::move(stratum)};
  verdict.trials = measured.trials;
  verdict.estimate = measured.estimate;
  const auto value = measured.estimate.value;
  if (!value) {
    verdict.reason = "no trial";
    return verdict;
  }
  verdict.decisive = by == DecidedBy::kPoint ? value : bound_of(measured.estimate, limit);
  if (verdict.decisive && slack_of(*verdict.decisive, limit) >= 0) {
    verdict.verdict = GateVerdict::kPassed;
  } else if (slack_of(*value, limit) < 0) {
    verdict.verdict = GateVerdict::kFailed;
  } else if (loss_is_proven(measured.estimate, limit)) {
    verdict.verdict = GateVerdict::kFailed;
    verdict.reason = "a loss is proven, and one beyond the margin is not excluded";
  } else {
    verdict.trials_needed = trials_needed(measured, limit);
    verdict.reason = verdict.decisive ? "too few trials to decide" : "too few seeds for a bound";
  }
  return verdict;
}

}  // namespace bonescan
