// The delay of loss that takes many visits to be no accident, and of silence over several visits.
// Internal to planner/predict; pure.
#pragma once

#include "planner/predict/delay_prediction.h"
#include "planner/predict/schedule.h"

namespace bonescan {

/// REQUIRES: as predict_delay(), of loss
DelayPrediction predict_gray_loss(const PlannedSchedule& schedule,
                                  const PlannedFailure& failure,
                                  const PlannedNoise& noise);

}  // namespace bonescan
