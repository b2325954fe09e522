// A directory of its own for a test's files, removed with the object.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>

namespace bonescan::fakes {

class TemporaryDirectory final {
 public:
  TemporaryDirectory() {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("bonescan_test_" + std::to_string(getpid()) + "_" + std::to_string(count++));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }

  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace bonescan::fakes
