// What a fleet that has run for hours has learnt of healthy scores.
//
// A trial begins with seven minutes of health, which is too little for a tail of one in ten
// billion; a real fleet has had days.  So one long run on even seeds, without a fault, gives the
// null distributions that all trials of its kind of fleet are judged by.
#pragma once

#include "detectors/shortterm/null_threshold.h"
#include "tools/study/detection/noise_world.h"

namespace bonescan {

struct LearnedNulls {
  NullThreshold visit{NullThresholdOptions{}};
  NullThreshold run{NullThresholdOptions{}};
};

/// Kept from call to call.  Call from one thread.
const LearnedNulls& learned_nulls(const FleetPlan& plan);

}  // namespace bonescan
