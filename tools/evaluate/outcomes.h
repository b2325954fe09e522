// First half of an evaluation: what became of every fault and every incident.
#pragma once

#include "tools/evaluate/evaluate.h"

#include <vector>

namespace bonescan {

/// Fills `matching`, `faults` and `incidents`; the scores are counted from these.
Evaluation judge_outcomes(const RunData& run);

}  // namespace bonescan
