// Where something in a scenario stands, and the one way to complain about it.
//
// Every complaint reads "file:line:col: path: expected ...; found ...; hint: ...", in that order,
// on one line, so that editors can jump to it and a person can act on it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bonescan {

/// A place in a file, or in a setting given on the command line (which has no lines).
struct Position {
  std::shared_ptr<const std::string> source;  ///< as given by the user: a file or "--set key=value"
  int line = 0;                               ///< from 1; 0: the source has no lines
  int column = 0;                             ///< from 1, in bytes
};

struct Complaint {
  std::string expected;
  std::string found;
  std::string hint;
};

/// The path that stands for a whole file.
constexpr std::string_view kWholeFile = "(file)";

/// @throws ConfigError, always
[[noreturn]] void raise(const Position& at, std::string_view path, const Complaint& complaint);

/// Text from a file as it may be printed: in quotes, on one line, shortened.
std::string in_quotes(std::string_view text);

}  // namespace bonescan
