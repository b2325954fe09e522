// How improbable is a score that was never seen?  A generalized Pareto tail, by maximum likelihood.
//
// Intuition: a budget of one false alarm a day is one evaluation in ten to the ninth, and nobody
// has that many healthy scores at hand.  But what exceeds a high level of almost any distribution
// has nearly the same shape, with two parameters that a few hundred exceedances tell (Pickands
// 1975):
//   P(X > x | X > 0) = (1 + xi x / beta)^(-1/xi),   exp(-x / beta) for xi = 0,
// where x is the excess over the level.  For xi < 0 there is an upper end point at -beta / xi.
//
// The likelihood is maximized over the line theta = xi / beta, on which the best xi is the mean of
// ln(1 + theta x) (Grimshaw 1993): one dimension, no starting point.  Below xi = -1/2 the maximum
// is no estimate any more (Smith 1985), so the shape is held between two bounds and only the scale
// is fitted where it would leave them.
// Complexity: some 45 passes over the exceedances.  Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace bonescan {

struct TailFitOptions {
  std::size_t least_exceedances = 50;  ///< fewer say nothing about a shape @ours
  double least_shape = -0.5;           ///< @paper Smith 1985: regular above it
  double most_shape = 0.9;             ///< heavier tails have no use as a threshold @ours
};

struct TailFit {
  double shape = 0.0;  ///< xi
  double scale = 1.0;  ///< beta, in the unit of the scores
  double log_likelihood = 0.0;
  std::size_t exceedances = 0;
};

/// Fits excesses over a level, in any order.
/// @returns nullopt for too few, for a NaN, an infinity or a negative one, and if all are zero
std::optional<TailFit> fit_tail(std::span<const double> excesses, const TailFitOptions& options);

/// Natural logarithm of P(X > excess | X > 0); 0 at and below zero, -infinity at and beyond the
/// upper end point.
double log_tail_survival(const TailFit& fit, double excess);

/// The excess that is exceeded with conditional probability exp(log_probability).
/// REQUIRES: log_probability <= 0.
double tail_quantile(const TailFit& fit, double log_probability);

}  // namespace bonescan
