// The single row of table `run`: what the run is, and what is known at its end.
#pragma once

#include "detectors/run_log/database.h"
#include "detectors/run_log/rows.h"

namespace bonescan::run_log {

Expected<void> insert_run(const Database& database, const RunInfo& info);
Expected<RunInfo> read_run(const Database& database);

Expected<void> store_result(const Database& database, const RunResult& result);
/// While the run is not complete: sums over what is stored.
Expected<RunResult> read_result(const Database& database);

}  // namespace bonescan::run_log
