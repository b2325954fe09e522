// How often do rules cry wolf that do so once in days of 32,768 RNICs?  By importance sampling.
//
// Intuition: a count would take weeks of processor time, but what an alarm is made of can be drawn
// on purpose, if every sample is weighed by how much likelier it was made.  Round trips are drawn
// with a place in their distribution of u = v^(1/b), v uniform, for the last j visits before the
// moment that is asked about; (b, j) comes from a mixture, so a sample weighs
//
//   w = 1 / sum over (b, j) of pi prod b u^(b-1)
//
// whichever drew it, and the mean of w over visits that begin an alarm is the rate of alarms per
// visit, with a standard error.  The rule itself is a black box: history, spread and its second
// look are what they are in use.  Likewise for loss, with visits drawn from the tests' own laws.
#pragma once

#include "tools/study/detection/detection_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

struct LearnedNulls;

struct RareAlarms {
  std::string rule;
  double budget = 0.0;        ///< a day of 32,768 RNICs, as the rule is set
  double rate = 0.0;          ///< likewise, as measured
  double error = 0.0;         ///< standard error of the rate
  std::uint64_t samples = 0;  ///< 0: not measured, the rate is what the rule is set to
  std::uint64_t alarms = 0;   ///< of the samples
};

/// Of the shift detector at this probability an evaluation: alarms that begin, a visit; `budget`,
/// `rate` and `error` likewise.  `batches` of 512 samples of each of 16 seeds.
RareAlarms shift_alarms_per_visit(double probability,
                                  const LearnedNulls& learned,
                                  SeedParity parity,
                                  std::uint32_t batches,
                                  std::uint32_t threads);

/// In the world that is as assumed.  The same answer whatever the number of threads.
std::vector<RareAlarms> run_rare_alarms(DetectionSize size,
                                        SeedParity parity,
                                        std::uint32_t threads);

/// All rules together: rate and standard error.
RareAlarms sum_of(const std::vector<RareAlarms>& rules);

}  // namespace bonescan
