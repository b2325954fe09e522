// From an estimate and a limit to a verdict: the part that absolute and paired gates share.
#pragma once

#include "tools/gates/judge.h"

#include <functional>
#include <optional>
#include <string>

namespace bonescan {

/// A figure as measured, and as it would be if the campaign had gone on at the same rates.
struct Measured {
  std::size_t trials = 0;
  Estimate estimate{};
  std::function<Estimate(double times)> scaled;  ///< null if there is no trial
};

/// Bounds of times shrink with the root of the number of seeds.
Estimate scaled_by_root(const Estimate& estimate, double times);

/// What an estimate is held against.
struct Limit {
  double value = 0.0;
  bool is_least = true;  ///< the figure has to be at least this
  /// The other bound beyond this proves a loss, even where the figure is within its margin.
  std::optional<double> loss_beyond{};
};

/// Passed if the bound (or the point) keeps the limit; failed if the point does not; undecided
/// else, with the number of trials at which the bound would keep it.
StratumVerdict decide(const Measured& measured,
                      const Limit& limit,
                      DecidedBy by,
                      std::string stratum);

/// How far a number keeps its limit; negative if it does not.
double slack_of(double number, const Limit& limit);

}  // namespace bonescan
