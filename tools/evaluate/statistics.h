// The few statistics that scores are stated with.
//
// Invariant: a figure that is undefined (no trials, no exposure, no sample) is nullopt, never 0 or
// NaN.  Wilson intervals are for display, Clopper-Pearson intervals for claims.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace bonescan {

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// Score interval of a proportion (Wilson 1927), two-sided.  Nullopt without trials.
/// REQUIRES: successes <= trials, 0 < confidence < 1.
std::optional<Interval> wilson_interval(std::size_t successes,
                                        std::size_t trials,
                                        double confidence = 0.95);

/// Exact interval of a proportion (Clopper and Pearson 1934), two-sided.  Nullopt without trials.
/// REQUIRES: successes <= trials, 0 < confidence < 1.
std::optional<Interval> clopper_pearson_interval(std::size_t successes,
                                                 std::size_t trials,
                                                 double confidence = 0.95);

/// One-sided exact upper bound of a Poisson rate: the largest rate at which `count` events or fewer
/// in `exposure` still have probability 1 - confidence.  Nullopt if the exposure is not positive.
/// @units events per unit of exposure
std::optional<double> poisson_upper_bound(std::size_t count,
                                          double exposure,
                                          double confidence = 0.95);

/// Exact two-sided McNemar test for paired outcomes: `only_first` and `only_second` count the
/// trials that one side alone got right.  1 if there is no such trial.
double mcnemar_exact_p(std::size_t only_first, std::size_t only_second);

std::optional<double> mean(std::span<const double> values);

/// Linear interpolation between order statistics (numpy's default).  `values` need no order.
/// REQUIRES: 0 <= level <= 1.
std::optional<double> quantile(std::span<const double> values, double level);

}  // namespace bonescan
