// The study as files: JSON, figures, and the README of their folder.
#pragma once

#include "tools/study/output/study_command.h"
#include "tools/study/study_readme.h"
#include "tools/study/study_runs.h"

#include <string>
#include <vector>

namespace bonescan {

/// points.json, kinds.json, evidence.json, drift.json, realistic.json, figures, README.md.
std::vector<StudyFile> study_files(const StudyResults& results, const StudyOrigin& origin);

}  // namespace bonescan
