// The study for readers: the README of its folder, and a table for the terminal.
#pragma once

#include "tools/study/output/study_command.h"
#include "tools/study/study_runs.h"

#include <string>

namespace bonescan {

std::string study_readme(const StudyResults& results, const StudyOrigin& origin);

/// One line a point, one a kind, and whether what is required holds.
std::string study_table(const StudyResults& results);

}  // namespace bonescan
