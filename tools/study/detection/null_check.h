// Is a threshold for one in ten million exceeded once in ten million?  Asked directly.
//
// Intuition: a budget of false alarms is a probability that nobody can measure in the time that a
// test may take, so thresholds are extrapolated; at 1e-7 an extrapolation can still be held against
// a count.  Null distributions are fitted on even seeds, then held, and odd seeds say how often the
// threshold is exceeded.  In worlds that break an assumption the same is done with their own
// visits, since a fleet's detectors learn from that fleet.
#pragma once

#include "tools/study/detection/detection_plan.h"

#include <cstdint>
#include <string>

namespace bonescan {

struct NullCheck {
  NoiseWorld world = NoiseWorld::kWellSpecified;
  std::string statistic;
  double probability = 1e-7;
  std::uint64_t fitted = 0;       ///< evaluations
  std::uint64_t evaluations = 0;  ///< that were checked
  std::uint64_t exceedances = 0;
  std::uint64_t verdict_exceedances = 0;  ///< evaluations whose ln p says as much
  double most_factor = 1.3;               ///< allowed between count and expectation

  double expected() const { return probability * static_cast<double>(evaluations); }
  double ratio() const { return static_cast<double>(exceedances) / expected(); }
  /// The ratio lies within the factor, both ways where the world is as assumed; where it is not,
  /// too few exceedances harm nobody.
  bool holds() const;
};

NullCheck run_null_check(DetectionSize size, NoiseWorld world, std::uint32_t threads);

}  // namespace bonescan
