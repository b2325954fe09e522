// From margins to a probability: how sure is it that no communicating pair is outside of a scope?
//
// Intuition: equal sizes mean that nobody can be in the wrong stage alone: two members would have
// to be exchanged.  What an exchange would cost, in units of the noise along the way from one stage
// to the other, is a log likelihood; summed over all exchanges it is the expected number of
// mistakes. The order can be wrong if a gap between stages is within the noise of lags.  The number
// of stages can be too large if fewer were nearly within reach.  Each is a probability; measured
// margins are worth less than a Gaussian says (noise has memory and heavy tails), so they are
// tempered, by factors that were calibrated on even seeds (METHODS.md).
#pragma once

#include "skeleton/stage_count.h"
#include "skeleton/stage_lags.h"

#include <cstddef>
#include <string>

namespace bonescan {

/// Expected number of pairs of members that should be exchanged.
double expected_exchanges(const StageGroups& groups, std::size_t group_count);

/// That the stages, and their order, are right.
struct StageCertainty {
  double labels = 0.0;
  double count = 0.0;
  double order = 0.0;

  double all() const { return labels * count * order; }
};

StageCertainty stage_certainty(const StageGroups& groups,
                               const StageCount& count,
                               const StageOrder& order);

/// Whether bursts account for what the task sends.
struct BurstEvidence {
  double shared_power = 0.0;
  double regularity = 0.0;
  double period = 0.0;        ///< samples
  double quiet_volume = 0.0;  ///< rate in quiet columns over the mean rate
};

/// Whether a rhythm is all that is wanting: a longer record may show one.
bool rhythm_alone_missing(const BurstEvidence& evidence);

/// That all bulk traffic is in regular bursts, and so on one rail.
double rail_certainty(const BurstEvidence& evidence);

/// In plain words, if it is not certain; `period_s` is that of the samples.
std::string why_not_same_rail(const BurstEvidence& evidence, double period_s);

}  // namespace bonescan
