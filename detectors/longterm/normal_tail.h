// Tail probabilities of the normal distribution as logarithms, far beyond where the probability
// itself is zero in a double.
//
// Intuition: a path that went from 16 to 120 us is 70 standard deviations away.  erfc() is zero
// from 38 on, so "how sure" must be kept as a logarithm.  Near the middle it is taken from erfc(),
// outside from the continued fraction of Mills' ratio, which converges the faster the further out
// one is.
// Pure functions; all logarithms are natural.
#pragma once

namespace bonescan {

/// ln P(Z > z).  |error| < 1e-12 relative for finite z; -infinity and 0 at the infinities.
double normal_log_sf(double z);

/// ln P(|Z| > |z|).
double normal_log_p_two_sided(double z);

/// The z with normal_log_sf(z) = log_p: a threshold for a budget of false alarms.
/// REQUIRES: log_p is finite and below 0.
double normal_z_of_log_sf(double log_p);

/// The normal deviate whose tail is that of `t` under Student's t: what an estimated standard
/// deviation costs.  Monotone and odd in `t`; tends to `t` for many degrees of freedom.
/// @paper Wallace 1959; to t = 8 the tail's logarithm is within 4 % for 2 degrees of freedom and
/// within 0.5 % from 10 on
/// REQUIRES: degrees > 0.
double student_as_normal(double t, double degrees);

}  // namespace bonescan
