#include "tools/agent/run_directory_claim.h"

#include "tools/run/run_session.h"

#include <system_error>

namespace bonescan {

namespace fs = std::filesystem;

RunDirectoryClaim::RunDirectoryClaim(const std::string& directory) : directory_(directory) {
  std::error_code ignored;
  for (fs::path path = fs::absolute(directory, ignored);
       !fs::exists(path, ignored) && path.has_relative_path();
       path = path.parent_path()) {
    made_.push_back(path);
  }
  run_sqlite_ = claim_run_directory(directory);
}

RunDirectoryClaim::~RunDirectoryClaim() {
  if (kept_) {
    return;
  }
  std::error_code ignored;
  for (const char* name : {"run.sqlite",
                           "run.sqlite-wal",
                           "run.sqlite-shm",
                           "run.sqlite-journal",
                           "manifest.json",
                           "incidents.jsonl",
                           "visits.csv"}) {
    fs::remove(directory_ / name, ignored);
  }
  for (const fs::path& path : made_) {
    fs::remove(path, ignored);
  }
}

}  // namespace bonescan
