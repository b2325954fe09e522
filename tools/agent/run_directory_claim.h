// The directory of a run that is about to begin, which vanishes again if the run cannot begin.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bonescan {

class RunDirectoryClaim final {
 public:
  /// @throws EnvironmentError if it cannot be made or already holds a run
  explicit RunDirectoryClaim(const std::string& directory);
  /// Unless kept: removes the files of a run, and the directories that were made if nothing else
  /// is in them.
  ~RunDirectoryClaim();
  RunDirectoryClaim(const RunDirectoryClaim&) = delete;
  RunDirectoryClaim& operator=(const RunDirectoryClaim&) = delete;

  /// Path of its run.sqlite, which is not there yet.
  const std::string& run_sqlite() const { return run_sqlite_; }

  std::string file(const std::string& name) const { return (directory_ / name).string(); }

  void keep() { kept_ = true; }

 private:
  std::filesystem::path directory_;
  std::vector<std::filesystem::path> made_;  ///< the deepest first
  std::string run_sqlite_;
  bool kept_ = false;
};

}  // namespace bonescan
