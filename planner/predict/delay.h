// How long a failure goes on before an incident opens, as a distribution.
//
// Intuition: incidents open at turns, one a visit period, and a failure begins anywhere between two
// of them.  So a delay is (a whole number of turns) visit + timeout, less how far into its period
// the failure began; what has to be found is the number of turns.  It follows from which visits
// meet the component (visit_grid.h), from what the rules of the pipeline ask for, and from how late
// reports are:
//   full loss       the first visit whose last `consecutive` probes are lost
//   gray loss       the visits that the tests of the component need (loss_rule.h); a pair that is
//                   alone is reported 3 s later
//   latency, x >= 3 the first visit that is late as a whole
//   latency, x < 3  the second one, of the pair either way or of another pair of the component;
//                   below 1.5 a pair alone is not reported
// and for the paper's configuration the same loss rules without the tests, and windows.
// A delay counts from the first moment at which a probe could have seen the failure, as the
// evaluator does (tools/evaluate/METHODS.md).  What is left out: METHODS.md.
//
// Rough model: well under a millisecond for full loss and latency, 1 to 2 ms for gray loss.  Pure.
#pragma once

#include "planner/predict/delay_prediction.h"
#include "planner/predict/schedule.h"

namespace bonescan {

/// REQUIRES: failure.pairs > 0; loss in (0, 1], latency above 1; schedule.visit > 0.
DelayPrediction predict_delay(const PlannedSchedule& schedule,
                              const PlannedFailure& failure,
                              const PlannedNoise& noise = {});

}  // namespace bonescan
