// Variances under autocorrelation, and how far a class can be trusted about one of its pairs.
//
// Model of a pair's aggregates d_t around their reference: d_t = phi d_(t-1) + e_t with independent
// e_t of standard deviation s, so var d = s^2 / (1 - phi^2).  All factors below multiply var d.
// Pure functions.
#pragma once

namespace bonescan {

/// Variance of E = (1 - w) E + w d in the long run.  1 for w = 1; w / (2 - w) for phi = 0.
double ewma_variance_factor(double weight, double phi);

/// Variance of the mean of n aggregates: (1 + phi) / ((1 - phi) n), at most 1.
double mean_variance_factor(double count, double phi);

/// phi from mean squares of differences over one period and over three: their ratio is
/// 1 + phi + phi^2.  Differences know neither the error of the reference nor a slow drift, both of
/// which a product of neighbours takes for persistence.  In [0, 0.95].
/// REQUIRES: one >= 0, three >= 0.
double phi_of_differences(double one, double three);

/// Variance of d from the mean square of its differences over one period: one / (2 (1 - phi)).
double variance_of_differences(double one, double phi);

/// ln P(S > h) of a one-sided cumulative sum S = max(0, S + u - k) of standard normal u whose mean
/// is not exactly zero: it has the error `mean_error` (a standard deviation) of the reference.
///   -2 k h + 2 h^2 mean_error^2,   from h = k / (2 mean_error^2) on constant
/// @paper Siegmund 1985 for mean_error = 0; the rest is the mean over a normal error @ours
double cusum_log_p(double h, double k, double mean_error);

/// Degrees of freedom that a class's variance is worth for one of its pairs, from how much more the
/// logarithms of the pairs' own variances spread than their sampling error explains.  Equal pairs:
/// many; unequal ones: few.  In [4, 400].  @paper Smyth 2004 (trigamma(d/2) = excess)
double prior_degrees(double excess_variance);

}  // namespace bonescan
