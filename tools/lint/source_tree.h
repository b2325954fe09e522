// The source tree as plain values, so that a rule can be tried on a handful of invented files.
//
// A rule is a pure function from a tree to findings.  It never touches the disk: load_tree() is the
// only function here that does, and a test builds a tree in memory to prove that a rule can fail.
// Thread-compatible.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::lint {

struct SourceFile {
  std::string path;  ///< from the root, with forward slashes
  std::string text;
};

using SourceTree = std::vector<SourceFile>;

struct Finding {
  std::string path;
  std::size_t line = 0;  ///< 1-based; 0 where the whole file is meant
  std::string what;
};

/// "path:line: what", one finding a line, in order.
std::string to_text(const std::vector<Finding>& findings);

/// Every text file of the source folders and the root, sorted by path.
/// @errors throws std::runtime_error if `root` has no source folder
SourceTree load_tree(const std::string& root);

/// Lines without their ends; the last is kept even if it has no end.
std::vector<std::string_view> split_lines(std::string_view text);

/// The code with comments and the contents of string and character literals blanked out.  Line
/// numbers and columns stay as they are; the path of an #include is kept.
std::string code_only(std::string_view text);

/// Finds `word` where it is not part of a longer identifier; npos if there is none at or after
/// `from`.
std::size_t find_word(std::string_view line, std::string_view word, std::size_t from = 0);

bool is_header(std::string_view path);
bool is_cpp(std::string_view path);  ///< a header or a source file
std::string_view folder_of(std::string_view path);

/// True for `folder` itself and everything below it.
bool is_in(std::string_view path, std::string_view folder);

}  // namespace bonescan::lint
