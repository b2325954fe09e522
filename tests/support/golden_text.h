// Compares a text with a file of tests/golden; with BONESCAN_REGEN_GOLDEN set it writes the file.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace bonescan {

inline void expect_golden_text(const std::string& text, const std::string& name) {
  const std::string path = std::string(BONESCAN_SOURCE_DIR "/tests/golden/") + name;
  if (std::getenv("BONESCAN_REGEN_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing";
  const std::string golden((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  EXPECT_EQ(text, golden) << "differs from " << path;
}

}  // namespace bonescan
