// The public 45-column probe schema of SkeletonHunter, one row per visit.
//
// Export writes every column by name and leaves unknown ones empty.  Import accepts any column
// order, a UTF-8 byte-order mark, and quoted fields; a row is one visit, its latency stands for all
// answered probes (the schema keeps no more), its loss_rate and dial for the lost ones.
//
// What an import has to assume, because the schema does not say it:
//   - an endpoint is (node, real_ip): an overlay IP repeats across tenants; every endpoint is on
//   rail 0
//     and ready from the start;
//   - a row with loss_rate > 0 is a visit of 10 probes of which round(10 loss_rate), at least one,
//   were
//     lost, spread over the visit; a row without loss is a visit of one probe.  An approximation;
//   - dial=fail means that all were lost; a row without dial, loss and latency is a local error;
//   - the probes of a visit were sent at once; visits are handed over per visit period of 1 s;
//   - rows of another task_type than RDMA_PING are left out.
// Export, import and export again gives the same text if visits have 1 (lossless) or 10 probes.
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
