// Quantile functions of our own: the same bits in give the same number out on every platform.
//
// Each maps one uniform number in (0, 1) to one sample, so a sample always costs one draw.
#pragma once

namespace bonescan {

/// Standard normal quantile.  |relative error| < 1.15e-9 over (0, 1).
/// @source P. Acklam's rational approximation (2003).
/// REQUIRES: 0 < u < 1.
double normal_quantile(double u);

/// Exponential quantile with the given mean.  REQUIRES: 0 < u < 1, mean >= 0.
double exponential_quantile(double u, double mean);

/// Log-normal quantile, parameters of the logarithm.  REQUIRES: 0 < u < 1, sigma >= 0.
double lognormal_quantile(double u, double mu, double sigma);

}  // namespace bonescan
