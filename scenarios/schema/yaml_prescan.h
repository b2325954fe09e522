// What is checked in a file's bytes before the YAML parser may see them.
//
// yaml-cpp takes bytes for text, ends a file silently at byte 4, and holds every token of a line
// back until it knows whether the line is a key; so a crafted megabyte could cost it much memory.
// The scan is linear, allocates next to nothing, and knows no YAML beyond blanks and brackets: its
// limit on nesting is loose, the exact one is kept while the tree is built.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace bonescan {

constexpr std::size_t kMaxScenarioBytes = std::size_t{1} << 20;

/// @throws ConfigError: too large, empty, not UTF-8 text, a directive, absurd nesting
void check_yaml_bytes(std::string_view text, const std::shared_ptr<const std::string>& source);

/// Only that it is UTF-8 text without control characters.
/// @throws ConfigError
void check_utf8_text(std::string_view text, const std::shared_ptr<const std::string>& source);

}  // namespace bonescan
