#include "tools/bonescan/commands/run_directory.h"

#include "scenarios/schema/load_scenario.h"

#include <fmt/format.h>

#include <filesystem>

namespace bonescan {

ScoredRun load_scored(const std::string& directory) {
  auto run = load_run(directory);
  if (!run) {
    throw ConfigError(run.error().detail);
  }
  Evaluation evaluation = evaluate(*run);
  return {std::move(*run), std::move(evaluation)};
}

std::string choose_directory(const std::string& wanted, const std::string& name) {
  if (!wanted.empty()) {
    return wanted;
  }
  std::string directory = "runs/" + name;
  for (int i = 2; std::filesystem::exists(directory); ++i) {
    directory = fmt::format("runs/{}-{}", name, i);
  }
  return directory;
}

}  // namespace bonescan
