#include "detectors/backend_ovs/parse/text_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace bonescan::backend_ovs {
namespace {

constexpr std::size_t kMaxQuotedBytes = 40;
constexpr std::size_t kMaxComplaintBytes = 200;
constexpr std::string_view kBlanks = " \t\r\v\f";

std::string quoted(std::string_view text, std::size_t limit) {
  std::string shown;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return fmt::format("'{}{}'", shown, text.size() > limit ? "..." : "");
}

}  // namespace

Error expected_in(const Line& line, std::string_view at, std::string_view what) {
  std::size_t column = 1;
  if (!at.empty()) {
    column += static_cast<std::size_t>(at.data() - line.text.data());
  }
  return {ErrorCode::kInvalid,
          fmt::format("{}:{}: expected {}; found {}",
                      line.number,
                      column,
                      what,
                      quoted(at.empty() ? line.text : at, kMaxQuotedBytes))};
}

bool is_complaint(std::string_view line) {
  constexpr std::array<std::string_view, 12> kStarts = {"ovs-vswitchd: ",
                                                        "ovs-appctl: ",
                                                        "ovs-ofctl: ",
                                                        "ovs-dpctl: ",
                                                        "Cannot find the datapath",
                                                        "Cannot find device",
                                                        "RTNETLINK answers: ",
                                                        "Error: ",
                                                        "Failed to open NETLINK_RDMA socket",
                                                        "Cannot get stats strings information",
                                                        "no stats available",
                                                        "grep: "};
  return std::any_of(kStarts.begin(), kStarts.end(), [line](std::string_view start) {
    return line.substr(0, start.size()) == start;
  });
}

std::optional<Line> LineReader::next() {
  if (rest_.empty()) {
    return std::nullopt;
  }
  const std::size_t end = rest_.find('\n');
  std::string_view text = rest_.substr(0, end);
  rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
  const std::size_t last = text.find_last_not_of(kBlanks);
  text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  return Line{++number_, text};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return text.substr(text.size());
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view take_word(std::string_view& text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    text.remove_prefix(text.size());
    return text;
  }
  text.remove_prefix(first);
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) {
    return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  const int base = take_prefix(text, "0x") ? 16 : 10;
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stopped != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint32_t> to_number32(std::string_view text) {
  const auto value = to_number(text);
  if (!value || *value > UINT32_MAX) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(*value);
}

std::optional<Duration> to_duration(std::string_view text) {
  constexpr std::int64_t kLongestSeconds = 4'000'000'000;
  if (text.size() > 2 && text.substr(text.size() - 2) == "ms") {
    const auto value = to_number32(text.substr(0, text.size() - 2));
    return value ? std::optional<Duration>(std::chrono::milliseconds(*value)) : std::nullopt;
  }
  if (text.empty() || text.back() != 's') {
    return std::nullopt;
  }
  text.remove_suffix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = to_number(text.substr(0, point));
  if (!whole || *whole > kLongestSeconds) {
    return std::nullopt;
  }
  std::int64_t ns = static_cast<std::int64_t>(*whole) * 1'000'000'000;
  std::int64_t unit = 100'000'000;
  for (const char c : text.substr(std::min(point + 1, text.size()))) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    ns += (c - '0') * unit;
    unit /= 10;
  }
  return Duration(ns);
}

std::optional<std::vector<std::string_view>> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '(':
      case '{':
        if (++depth > kDeepestBrackets) {
          return std::nullopt;
        }
        break;
      case ')':
      case '}':
        if (depth-- == 0) {
          return std::nullopt;
        }
        break;
      case ',':
        if (depth == 0) {
          parts.push_back(trimmed(text.substr(start, i - start)));
          start = i + 1;
        }
        break;
      default:
        break;
    }
  }
  if (depth != 0) {
    return std::nullopt;
  }
  parts.push_back(trimmed(text.substr(start)));
  return parts;
}

std::string folded(std::string_view text) {
  std::string result;
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    if (!result.empty()) {
      result += ' ';
    }
    result += word;
  }
  return result;
}

namespace internal {

Error too_long(std::size_t size) {
  return {ErrorCode::kInvalid,
          fmt::format("1:1: expected at most {} bytes; found {}", kLongestInput, size)};
}

Error complaint(std::string_view line) {
  return {ErrorCode::kUnavailable,
          fmt::format("the tool says {}", quoted(line, kMaxComplaintBytes))};
}

}  // namespace internal
}  // namespace bonescan::backend_ovs
