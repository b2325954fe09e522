// Everything the evaluator and the reports read of one run, as one plain value.
//
// Whoever has the rows can fill it: load_run() from a run directory, a test by hand.  Nothing in
// tools/evaluate or tools/report reads anything else, so a score depends on these rows alone.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/records/updates.h"
#include "detectors/records/verdict.h"
#include "detectors/run_log/rows.h"
#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/error.h"

#include <string>
#include <vector>

namespace bonescan {

struct RunData {
  RunInfo info;
  RunResult result;
  EndpointDirectory endpoints;
  ComponentTable components;
  PairTable pairs;
  std::vector<WindowRecord> windows;
  std::vector<SkeletonRecord> skeletons;
  std::vector<Verdict> verdicts;
  std::vector<Incident> incidents;
  std::vector<TruthRow> truth;
  std::vector<MembershipEvent> membership;
};

/// Reads a run directory (its run.sqlite) or a run.sqlite itself.
/// @errors those of RunLogReader::open
Expected<RunData> load_run(const std::string& directory_or_file);

}  // namespace bonescan
