// Files of tests/golden: reading one, and comparing a text with one (with BONESCAN_REGEN_GOLDEN set
// the file is written instead).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace bonescan {

inline std::string read_golden(const std::string& name) {
  const std::string path = std::string(BONESCAN_SOURCE_DIR "/tests/golden/") + name;
  std::ifstream file(path);
  EXPECT_TRUE(file) << path << " is missing";
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void expect_golden_text(const std::string& text, const std::string& name) {
  const std::string path = std::string(BONESCAN_SOURCE_DIR "/tests/golden/") + name;
  if (std::getenv("BONESCAN_REGEN_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
  }
  EXPECT_EQ(text, read_golden(name)) << "differs from " << path;
}

}  // namespace bonescan
