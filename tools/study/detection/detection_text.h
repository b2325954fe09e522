// The detection study for readers: README.md, results.json and figures of results/detection.
#pragma once

#include "tools/study/detection/detection_runs.h"
#include "tools/study/output/study_command.h"

#include <string>
#include <vector>

namespace bonescan {

/// How the results were made.
struct DetectionOrigin {
  StudyOrigin study;
  double minutes = 0.0;
};

/// The table of the null alone.
std::string null_check_text(const std::vector<NullCheck>& checks);
std::string detection_readme(const DetectionResults& results, const DetectionOrigin& origin);
std::string detection_json(const DetectionResults& results, const DetectionOrigin& origin);
std::vector<StudyFile> detection_files(const DetectionResults& results,
                                       const DetectionOrigin& origin);

}  // namespace bonescan
