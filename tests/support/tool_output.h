// Outputs of real tools, kept in tests/golden/tools: `<parser>.<what>.txt` for one tool, `lab.*`
// for whole sessions.
//
// The files are as the tools and the session printed them, so a session's frame ("$ command" first,
// "rc=N" last) is cut off here.
#pragma once

#include "sim/base/error.h"
#include "tests/support/golden_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan::fakes {

inline std::string tool_file(const std::string& name) {
  return read_golden("tools/" + name);
}

/// Lines `first` to `last` of a file, from 1.
inline std::string tool_lines(const std::string& name, std::size_t first, std::size_t last) {
  const std::string text = tool_file(name);
  std::size_t begin = 0;
  std::string kept;
  for (std::size_t number = 1; begin < text.size() && number <= last; ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1);
    if (number >= first) {
      kept += text.substr(begin, end + 1 - begin);
    }
    begin = end + 1;
  }
  return kept;
}

/// What the tool printed, without the frame of the session.
inline std::string tool_output(const std::string& name) {
  std::string text = tool_file(name);
  if (text.substr(0, 2) == "$ ") {
    text.erase(0, text.find('\n') + 1);
  }
  const std::size_t last = text.rfind("rc=");
  if (last != std::string::npos && (last == 0 || text[last - 1] == '\n')) {
    text.erase(last);
  }
  return text;
}

/// Files whose name begins with `prefix`, in ascending order.
inline std::vector<std::string> tool_files(std::string_view prefix) {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(BONESCAN_SOURCE_DIR "/tests/golden/tools")) {
    const std::string name = entry.path().filename().string();
    if (name.substr(0, prefix.size()) == prefix) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The value; a failure of the test and an empty value if there is none.
template <class Result>
typename Result::value_type good(Result result) {
  EXPECT_TRUE(result) << result.error().detail;
  return std::move(result).value_or(typename Result::value_type{});
}

template <class Result>
void expect_error(const Result& result, ErrorCode code, const std::string& text) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, code);
  EXPECT_THAT(result.error().detail, testing::HasSubstr(text));
}

}  // namespace bonescan::fakes
