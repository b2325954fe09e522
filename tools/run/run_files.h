// The files of a run directory that are made from its run.sqlite.
#pragma once

#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"

#include <string>

namespace bonescan {

/// Replaces a file as a whole: a reader sees the old or the new content, never a part.
/// @throws EnvironmentError
void write_whole(const std::string& path, const std::string& content);

/// manifest.json alone; before a run `fingerprint` is null and `complete` false.
void write_manifest(const std::string& directory, const RunInfo& info, const RunResult& result);

/// manifest.json, report.json, report.html, trace.json.
void write_reports(const std::string& directory, const RunData& run, const Evaluation& evaluation);

}  // namespace bonescan
