// The long-term test of the paper on two samples of round-trip times: ln X ~ N(mu, sigma^2), fitted
// to one sample, checked on a later one.
//
// The published form takes the fit for the truth.  With samples of equal size that overstates z by
// sqrt(2); the form with baseline error does not.  All of them believe that samples are
// independent: with autocorrelated probes z is too large by sqrt((1 + phi) / (1 - phi)), whatever
// the form.
// Pure functions.  @paper SkeletonHunter, section 3.2 (the formulas are ours: our copy has none)
#pragma once

#include <cstddef>
#include <span>

namespace bonescan {

/// Moments of ln x.  Unit of the mean: ln of the samples' unit.
struct LogMoments {
  std::size_t count = 0;
  double mean = 0.0;
  double sd = 0.0;      ///< divided by n - 1; 0 for fewer than two samples
  double sd_mle = 0.0;  ///< divided by n
};

/// Two passes, in the order given.  REQUIRES: every sample is positive.
LogMoments log_moments(std::span<const double> samples);

/// The published form: (m' - mu) / (sigma / sqrt(n')); what the fit does not know is ignored.
/// NaN where the base has no spread and the means are equal.
double z_published(const LogMoments& base, const LogMoments& later);

/// The same sigma, with the error of the base's mean: sigma sqrt(1/n + 1/n').  @ours
double z_with_baseline_error(const LogMoments& base, const LogMoments& later);

/// Each sample its own spread (Welch).
double z_two_sample(const LogMoments& base, const LogMoments& later);

}  // namespace bonescan
