// A distribution of delays as a plan needs it: quantiles, a mean, and what is never found.
//
// Flat within cells of equal width; failures that are never found lie beyond all of them, so that a
// quantile is one of all failures and not of the lucky ones.  Thread-compatible.
#pragma once

#include "sim/base/units.h"

#include <optional>
#include <vector>

namespace bonescan {

/// A distribution of delays, flat within cells of equal width.
class DelayPrediction final {
 public:
  /// Of what is never found.
  DelayPrediction() = default;

  /// masses[i] lies in [start + i step, start + (i + 1) step); what they lack of 1 is never found.
  DelayPrediction(Duration start, Duration step, std::vector<double> masses);

  /// Share of the failures that are never found.
  double never() const { return never_; }

  /// Share of all failures that are found so soon.
  double within(Duration delay) const;

  /// The delay that a share of all failures does not exceed; empty if fewer are ever found.
  /// REQUIRES: 0 < share < 1
  std::optional<Duration> quantile(double share) const;

  /// Over the failures that are found; empty if none are.
  std::optional<Duration> mean() const;

 private:
  double start_s_ = 0.0;
  double step_s_ = 1.0;
  std::vector<double> masses_;
  double never_ = 1.0;
};

}  // namespace bonescan
