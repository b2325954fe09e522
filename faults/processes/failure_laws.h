// Quantile functions of the laws of failures: one uniform number in, one sample out.
// Thread-safe.
#pragma once

#include "sim/base/units.h"

namespace bonescan {

/// Weibull with the given mean: scale = mean / Gamma(1 + 1 / shape), quantile
///   scale * (-ln(1 - u))^(1 / shape).
/// REQUIRES: 0 < u < 1, shape > 0, mean >= 0.
double weibull_quantile(double u, double shape, double mean);

/// P(shape, x), the regularized lower incomplete gamma function: series below shape + 1, continued
/// fraction (modified Lentz) above.  |error| < 1e-12.
/// REQUIRES: shape > 0, x >= 0.
double gamma_cdf(double shape, double x);

/// Gamma with mean 1 and variance 1 / shape, by bisection of gamma_cdf in the logarithm.
/// REQUIRES: 0 < u < 1, shape > 0.
double gamma_quantile(double u, double shape);

/// Log-normal by two of its quantiles: sigma = ln(p90 / median) / 1.2815515655.
/// REQUIRES: 0 < u < 1, 0 < median <= p90.
Duration repair_quantile(double u, Duration median, Duration p90);

}  // namespace bonescan
