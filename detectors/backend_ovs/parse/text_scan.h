// Pieces that the parsers of tool output share: lines, words, numbers, brackets, complaints.
//
// Everything here is linear in its input and keeps views into it.  Input comes from tools and from
// files that a person names, so nothing about it is trusted: a wrong form is an Error that names
// line and column.  Pure functions.
#pragma once

#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::backend_ovs {

/// More than any tool prints: a million megaflows of a kilobyte would be cut by the runner, too.
constexpr std::size_t kLongestInput = std::size_t{64} << 20U;
/// Brackets inside brackets; Open vSwitch itself nests actions no deeper than 64.
constexpr std::size_t kDeepestBrackets = 64;

struct Line {
  std::size_t number = 1;  ///< from 1
  std::string_view text;   ///< without line end and trailing blanks
};

/// kInvalid "line:column: expected ...; found '...'".  `at` must point into `line.text`, or be
/// empty: then the whole line is meant.
Error expected_in(const Line& line, std::string_view at, std::string_view what);

/// The sentence of a tool that could not answer ("ovs-vswitchd: ...", "RTNETLINK answers: ...").
bool is_complaint(std::string_view line);

/// The next line; nullopt at the end.
class LineReader final {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  std::optional<Line> next();

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

/// Hands every line that is not blank to `take`, which returns Expected<void>, up to the first
/// error. A complaint becomes kUnavailable.
template <class Take>
Expected<void> for_each_line(std::string_view text, Take&& take);

/// Rows that `read(line)`, which returns Expected<Row>, makes of the lines that are not blank and
/// that `skip(text)` does not pass over.
template <class Row, class Skip, class Read>
Expected<std::vector<Row>> parse_rows(std::string_view text, Skip&& skip, Read&& read);

std::string_view trimmed(std::string_view text);

/// Cuts the first word off `text`; empty if there is none.
std::string_view take_word(std::string_view& text);

/// Removes `prefix` from the front of `text` if it is there.
bool take_prefix(std::string_view& text, std::string_view prefix);

/// All of `text`: decimal, or hexadecimal after 0x.
std::optional<std::uint64_t> to_number(std::string_view text);
std::optional<std::uint32_t> to_number32(std::string_view text);

/// "0.173s" or "12ms"; nullopt if it is something else.
std::optional<Duration> to_duration(std::string_view text);

/// The parts between the commas outside all brackets; nullopt if brackets do not match or are too
/// deep.
std::optional<std::vector<std::string_view>> split_at_commas(std::string_view text);

/// The text with runs of blanks folded into one.
std::string folded(std::string_view text);

namespace internal {
Error too_long(std::size_t size);
Error complaint(std::string_view line);
}  // namespace internal

template <class Take>
Expected<void> for_each_line(std::string_view text, Take&& take) {
  if (text.size() > kLongestInput) {
    return tl::unexpected(internal::too_long(text.size()));
  }
  LineReader reader(text);
  while (const auto line = reader.next()) {
    if (line->text.empty()) {
      continue;
    }
    if (is_complaint(line->text)) {
      return tl::unexpected(internal::complaint(line->text));
    }
    if (Expected<void> taken = take(*line); !taken) {
      return taken;
    }
  }
  return {};
}

template <class Row, class Skip, class Read>
Expected<std::vector<Row>> parse_rows(std::string_view text, Skip&& skip, Read&& read) {
  std::vector<Row> rows;
  const Expected<void> done = for_each_line(text, [&](const Line& line) -> Expected<void> {
    if (skip(line.text)) {
      return {};
    }
    Expected<Row> row = read(line);
    if (!row) {
      return tl::unexpected(std::move(row.error()));
    }
    rows.push_back(std::move(*row));
    return {};
  });
  if (!done) {
    return tl::unexpected(done.error());
  }
  return rows;
}

}  // namespace bonescan::backend_ovs
