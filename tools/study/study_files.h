// The study as text: a table for the terminal, JSON, figures, and the README of its folder.
#pragma once

#include "tools/study/study_runs.h"

#include <string>
#include <vector>

namespace bonescan {

/// How the results were made.
struct StudyOrigin {
  std::string command;
  std::string commit;
  double elapsed_s = 0.0;
};

struct StudyFile {
  std::string name;
  std::string text;
};

/// One line a point, one a kind, and what does not hold.
std::string study_table(const StudyResults& results);

/// points.json, kinds.json, realistic.json, figures, README.md.
std::vector<StudyFile> study_files(const StudyResults& results, const StudyOrigin& origin);

}  // namespace bonescan
