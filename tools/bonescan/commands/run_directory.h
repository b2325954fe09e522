// Finding, loading and naming run directories.
#pragma once

#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"

#include <string>

namespace bonescan {

struct ScoredRun {
  RunData run;
  Evaluation evaluation;
};

/// @throws ConfigError if there is no readable run
ScoredRun load_scored(const std::string& directory);

/// `wanted` if given, else runs/<name>, with -2, -3, ... if that is taken.
std::string choose_directory(const std::string& wanted, const std::string& name);

}  // namespace bonescan
