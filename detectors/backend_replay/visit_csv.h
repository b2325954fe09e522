// The public 45-column probe schema of SkeletonHunter, one row per visit.
//
// Export writes every column by name and leaves unknown ones empty.  Import accepts any column
// order, a UTF-8 byte-order mark, and quoted fields; a row is one visit, its latency stands for all
// answered probes (the schema keeps no more), its loss_rate and dial for the lost ones.
#pragma once

#include "detectors/run_log/run_log.h"

#include <iosfwd>
#include <memory>
#include <string>

namespace bonescan {

/// @errors kIo, kInvalid
Expected<void> export_visits_csv(const RunLogReader& log, std::ostream& out);

/// One JSON object per visit, with every RTT.
Expected<void> export_visits_jsonl(const RunLogReader& log, std::ostream& out);

/// Converts a CSV of the public schema into a run log at `run_sqlite`, which replay can analyse.
/// @errors kIo; kInvalid with "file:line:column: ..." of the offending field
Expected<void> import_visits_csv(const std::string& csv, const std::string& run_sqlite);

}  // namespace bonescan
