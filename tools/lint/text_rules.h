// What no file may contain: calls that break determinism, and habits that rot.
//
// Banned words are looked for in code only (comments and literals are blanked), and each has the
// folders or files in which it is right after all.  Text rules read the file as it is.
#pragma once

#include "tools/lint/source_tree.h"

#include <string_view>
#include <vector>

namespace bonescan::lint {

struct BannedWord {
  std::string_view word;                   ///< matched as a whole identifier
  std::string_view instead;                ///< why, or what to use
  std::vector<std::string_view> where_ok;  ///< folders or files
};

const std::vector<BannedWord>& banned_words();

/// C++ files: clocks, environment, rand and std distributions, unordered containers, exceptions
/// below scenarios, std::function outside its homes, output below tools, `using namespace`.
std::vector<Finding> check_banned_words(const SourceTree& tree);

/// Opening prose and #pragma once in headers.
std::vector<Finding> check_header_prose(const SourceTree& tree);

/// C++ files: newline at the end, no tab, at most 100 columns and 500 lines, no reminder comments,
/// each NOLINT with its check and reason.
std::vector<Finding> check_form(const SourceTree& tree);

/// All text files: no absolute path of somebody's machine.
std::vector<Finding> check_machine_paths(const SourceTree& tree);

}  // namespace bonescan::lint
