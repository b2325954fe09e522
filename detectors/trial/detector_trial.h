// One recorded run, heard by somebody else's detector: the same visits, another opinion.
//
// Intuition: a detector is compared fairly only on the very probes that another one saw.  A trial
// hands the visits of a recorded run to a detector in the order and at the times at which they were
// first handed over, makes incidents of its verdicts (plain_analysis.h) and leaves a run directory
// that every command understands: `bonescan score --truth RECORDED OUT`, `compare`, `explain`.
// Invariant: a trial never reads what was really broken; only the evaluator does.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/localize/localizer.h"
#include "sim/base/error.h"

#include <string>

namespace bonescan {

/// What a trial says about itself when it has ended.
struct TrialSummary {
  std::size_t visits = 0;
  std::size_t verdicts = 0;
  std::size_t incidents = 0;
};

/// Writes `out`/run.sqlite.  `localizer` may be nullptr.
/// @errors kIo: `out` exists already or cannot be written; those of RunLogReader::open
Expected<TrialSummary> try_detector(const std::string& recorded_run_sqlite,
                                    const std::string& out,
                                    Detector& detector,
                                    Localizer* localizer);

}  // namespace bonescan
