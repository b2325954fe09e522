#include "scenarios/schema/yaml_prescan.h"

#include "scenarios/schema/source_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace bonescan {
namespace {

/// Twice the exact limit, because the scan cannot tell quoted brackets from real ones.
constexpr std::size_t kMaxScannedDepth = 128;

Position position_of(std::string_view text,
                     std::size_t offset,
                     const std::shared_ptr<const std::string>& source) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::ranges::count(before, '\n');
  const std::size_t line_start = before.rfind('\n') + 1;
  return {source, static_cast<int>(line + 1), static_cast<int>(offset - line_start + 1)};
}

/// Bytes of the UTF-8 sequence at the front, 0 if there is no valid one (RFC 3629).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) > 0x9F;
  const bool beyond_unicode = lead == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond_unicode ? 0 : length;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// Columns at which blocks are open.  Returns the number of levels that `line` is inside of,
/// "- ", "? " and ": " at its front included.
std::size_t block_depth(std::string_view line, std::vector<std::size_t>& columns) {
  std::size_t column = 0;
  const auto skip_blanks = [&] {
    while (column < line.size() && is_blank(line[column])) {
      ++column;
    }
  };
  skip_blanks();
  if (column == line.size() || line[column] == '#') {
    return 0;
  }
  while (!columns.empty() && columns.back() > column) {
    columns.pop_back();
  }
  while (columns.size() <= kMaxScannedDepth) {
    if (columns.empty() || columns.back() < column) {
      columns.push_back(column);
    }
    const bool indicator = column + 1 < line.size() && is_blank(line[column + 1]) &&
                           std::string_view("-?:").find(line[column]) != std::string_view::npos;
    if (!indicator) {
      break;
    }
    ++column;
    skip_blanks();
  }
  return columns.size();
}

/// Most brackets that are open at once within the line.
std::size_t flow_depth(std::string_view line) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (const char c : line) {
    if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

void check_lines(std::string_view text, const std::shared_ptr<const std::string>& source) {
  std::vector<std::size_t> columns;
  int number = 1;
  for (std::size_t start = 0; start < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    if (line.starts_with('%')) {
      raise({source, number, 1},
            kWholeFile,
            {"keys and values", "a YAML directive", "delete the line that begins with %"});
    }
    if (block_depth(line, columns) > kMaxScannedDepth || flow_depth(line) > kMaxScannedDepth) {
      raise({source, number, 1},
            kWholeFile,
            {"at most 64 levels of nesting",
             "far more",
             "a scenario needs no more than six; look for stray brackets or blanks"});
    }
    start = end + 1;
  }
}

}  // namespace

void check_utf8_text(std::string_view text, const std::shared_ptr<const std::string>& source) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = sequence_length(text.substr(i));
    if (length == 0 || is_control(text[i])) {
      raise(position_of(text, i, source),
            kWholeFile,
            {"UTF-8 text",
             fmt::format("byte 0x{:02x}", static_cast<unsigned char>(text[i])),
             "this is a binary file, or text in another encoding: save it as UTF-8"});
    }
    i += length;
  }
}

void check_yaml_bytes(std::string_view text, const std::shared_ptr<const std::string>& source) {
  const Position start{source, 1, 1};
  if (text.size() > kMaxScenarioBytes) {
    raise(start,
          kWholeFile,
          {"at most 1 MiB",
           "more",
           "a scenario is a few kilobytes of YAML; is this the right file?"});
  }
  check_utf8_text(text, source);
  check_lines(text, source);
}

}  // namespace bonescan
