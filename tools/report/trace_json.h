// trace.json: a run as Chrome trace events, to be opened in Perfetto or chrome://tracing.
//
// Process 1 is the run itself: faults, incidents and windows on threads of their own, loss and the
// number of anomalous pairs as counters.  Every host that an incident touches is a process, and
// each of its RNICs a thread.  An arrow leads from each fault to the incident that found it.
// Invariants: 1. times are microseconds since the start of the run; 2. spans of one thread do not
// overlap (viewers nest them), so overlapping ones go to a further thread of the same name.
#pragma once

#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"
#include "tools/report/report_json.h"

namespace bonescan {

/// {"displayTimeUnit": "ms", "traceEvents": [...]}
Json trace_json(const RunData& run, const Evaluation& evaluation);

}  // namespace bonescan
