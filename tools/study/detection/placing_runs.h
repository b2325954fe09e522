// What likelihood and identifiability repair are worth: where is a fault placed without them?
//
// Intuition: a detector that alarms has not yet said where.  The same fleets as in the trials lose
// probes on one directed link between a ToR and a spine; after three sweeps every localizer gets
// the visits of all pairs.  A link can only be told from its neighbours if two probed ways differ
// elsewhere, so the same is asked of sparse lists (each endpoint and its neighbours in the ring),
// and of these with the pairs that the repair adds.
#pragma once

#include "tools/study/detection/detection_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

struct PlacingResult {
  std::string fault;
  std::string lists;
  std::string localizer;
  std::uint32_t trials = 0;
  std::uint32_t alone = 0;   ///< the first accusation is the true link and nothing else
  std::uint32_t held = 0;    ///< it holds the true link among others
  std::uint32_t silent = 0;  ///< nobody was accused
  std::uint32_t others = 0;  ///< accusations that do not hold the true link
  double pairs = 0.0;        ///< probed, mean over trials
  double ambiguous = 0.0;    ///< shared links without two distinguishable ways, mean over trials
};

std::vector<PlacingResult> run_placing(DetectionSize size,
                                       SeedParity parity,
                                       std::uint32_t threads);

}  // namespace bonescan
