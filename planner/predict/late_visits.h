// How surely one visit over a slow path is called late.
#pragma once

#include "planner/predict/schedule.h"

namespace bonescan {

/// Probability that a visit over the slow path is called late: both z-scores of its median and its
/// minimum are above the threshold that the budget gives.  Normal, in logarithms.
/// @paper none; shortterm/METHODS.md
/// @ours  the null is taken for normal: the learnt one is wider, by spikes and queues, which
/// matters for factors below 1.3 alone
double late_visit_probability(const PlannedSchedule& schedule,
                              const PlannedNoise& noise,
                              double factor);

}  // namespace bonescan
