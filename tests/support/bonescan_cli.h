// The real program, called as a user calls it, and what it leaves in a run directory.
//
// Only for test programs that are built with BONESCAN_BINARY, the path of the program.
#pragma once

#include "tests/support/child_process.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace bonescan::fakes {

using Arguments = std::vector<std::string>;

inline std::string source_file(const std::string& path) {
  return std::string(BONESCAN_SOURCE_DIR "/") + path;
}

inline Arguments bonescan_command(const Arguments& arguments) {
  Arguments command = {BONESCAN_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

inline ChildResult bonescan(const Arguments& arguments, const ChildOptions& options = {}) {
  return ChildProcess(bonescan_command(arguments), options).wait();
}

inline nlohmann::json report_in(const std::string& directory) {
  return nlohmann::json::parse(read_file(directory + "/report.json"), nullptr, false);
}

/// `bonescan run`, which must succeed; its report.json.
inline nlohmann::json run_report(const std::string& scenario,
                                 const std::string& directory,
                                 const Arguments& more = {}) {
  Arguments arguments = {"run", source_file(scenario), "--out", directory};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const ChildResult result = bonescan(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return report_in(directory);
}

/// Names of scenarios/smoke, in order.
inline std::vector<std::string> smoke_scenarios() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_file("scenarios/smoke"))) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Every file and directory below `directory`, with the files' content: equal if nothing changed.
inline std::map<std::string, std::string> snapshot(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    files[entry.path().string()] = entry.is_directory() ? "" : read_file(entry.path().string());
  }
  return files;
}

}  // namespace bonescan::fakes
