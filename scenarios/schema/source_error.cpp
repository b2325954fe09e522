#include "scenarios/schema/source_error.h"

#include "scenarios/schema/schema_key.h"

#include <fmt/format.h>

namespace bonescan {
namespace {

constexpr std::size_t kMaxQuotedBytes = 48;
constexpr std::size_t kMaxPathBytes = 96;

/// The longest prefix of at most `limit` bytes that does not cut a UTF-8 sequence.
std::string_view prefix(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) {
    return text;
  }
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) {
    --limit;
  }
  return text.substr(0, limit);
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string result;
  const std::string_view shown = prefix(text, limit);
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  if (shown.size() < text.size()) {
    result += "...";
  }
  return result;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", printable(text, kMaxQuotedBytes));
}

void raise(const Position& at, std::string_view path, const Complaint& complaint) {
  std::string where = at.source ? *at.source : std::string("scenario");
  if (at.line > 0) {
    where += fmt::format(":{}:{}", at.line, at.column);
  }
  throw ConfigError(fmt::format("{}: {}: expected {}; found {}; hint: {}",
                                where,
                                printable(path.empty() ? kWholeFile : path, kMaxPathBytes),
                                complaint.expected,
                                complaint.found,
                                complaint.hint));
}

}  // namespace bonescan
