// Comma-separated values by RFC 4180, read as a stream, with the place of every field.
//
// Accepts a UTF-8 byte-order mark, CRLF and LF, quoted fields with commas, doubled quotes and line
// breaks.  Empty lines are skipped.  Memory: one record; a field is at most a mebibyte.
#pragma once

#include "sim/base/error.h"

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace bonescan::backend_replay {

/// 1-based line and byte column, as editors count.
struct CsvPlace {
  std::size_t line = 1;
  std::size_t column = 1;
};

struct CsvField {
  std::string text;
  CsvPlace place;
};

class CsvReader final {
 public:
  /// `name` is what errors call the input.  `in` must outlive the reader.
  CsvReader(std::istream& in, std::string name);

  /// Replaces `fields` by the next record; false at the end.
  /// @errors kInvalid "name:line:column: ..."
  Expected<bool> next(std::vector<CsvField>& fields);

  Error error_at(const CsvPlace& place, const std::string& what) const;

 private:
  static constexpr int kEnd = -1;
  static constexpr std::size_t kLongestField = 1U << 20U;

  int peek();
  int take();
  bool take_line_end();
  Expected<void> read_field(CsvField& field);
  Expected<void> read_quoted(CsvField& field);
  Expected<void> append(CsvField& field, int character);

  std::istream& in_;
  std::string name_;
  CsvPlace place_;
};

}  // namespace bonescan::backend_replay
