// The table that `run` and `score` print for people: one line a fault, then the summary.
//
// Invariants: 1. no line is wider than 120 columns; 2. no control characters but the newline;
// 3. every figure says whether it is simulated, and with which seed.
#pragma once

#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"

#include <string>

namespace bonescan {

/// Faults with what became of them, or, without truth, the incidents; then the summary.
std::string report_table(const RunData& run, const Evaluation& evaluation);

}  // namespace bonescan
