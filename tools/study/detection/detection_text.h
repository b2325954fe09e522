// The detection study for readers: README.md, results.json and figures of results/detection.
#pragma once

#include "tools/study/detection/detection_runs.h"

#include <string>
#include <vector>

namespace bonescan {

/// How the results were made.
struct DetectionOrigin {
  std::string command;
  std::string commit;
  double minutes = 0.0;
};

struct DetectionFile {
  std::string name;
  std::string text;
};

std::string detection_readme(const DetectionResults& results, const DetectionOrigin& origin);
std::string detection_json(const DetectionResults& results, const DetectionOrigin& origin);
std::vector<DetectionFile> detection_files(const DetectionResults& results,
                                           const DetectionOrigin& origin);

}  // namespace bonescan
