#include "detectors/backend_replay/csv_reader.h"

#include <fmt/format.h>

#include <utility>

namespace bonescan::backend_replay {

CsvReader::CsvReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {
  constexpr unsigned char kMark[] = {0xEF, 0xBB, 0xBF};
  for (const unsigned char byte : kMark) {
    if (in_.peek() != byte) {
      break;
    }
    in_.get();
  }
}

Error CsvReader::error_at(const CsvPlace& place, const std::string& what) const {
  return {ErrorCode::kInvalid, fmt::format("{}:{}:{}: {}", name_, place.line, place.column, what)};
}

int CsvReader::peek() {
  const auto next = in_.peek();
  return next == std::istream::traits_type::eof() ? kEnd : next;
}

int CsvReader::take() {
  const int character = in_.get();
  if (character == '\n') {
    ++place_.line;
    place_.column = 1;
  } else {
    ++place_.column;
  }
  return character;
}

bool CsvReader::take_line_end() {
  if (peek() == '\r') {
    take();
    if (peek() == '\n') {
      take();
    }
    return true;
  }
  if (peek() == '\n') {
    take();
    return true;
  }
  return false;
}

Expected<bool> CsvReader::next(std::vector<CsvField>& fields) {
  fields.clear();
  while (take_line_end()) {
  }
  if (peek() == kEnd) {
    return false;
  }
  for (;;) {
    fields.push_back({{}, place_});
    if (const Expected<void> read = read_field(fields.back()); !read) {
      return tl::unexpected(read.error());
    }
    if (peek() == ',') {
      take();
    } else if (peek() == kEnd || take_line_end()) {
      return true;
    } else {
      return tl::unexpected(
          error_at(place_, "expected a comma or the end of the line after a quote"));
    }
  }
}

Expected<void> CsvReader::read_field(CsvField& field) {
  if (peek() == '"') {
    return read_quoted(field);
  }
  for (int next = peek(); next != ',' && next != '\r' && next != '\n' && next != kEnd;
       next = peek()) {
    if (next == '"') {
      return tl::unexpected(error_at(place_, "a quote inside a field that is not quoted"));
    }
    if (const Expected<void> done = append(field, take()); !done) {
      return done;
    }
  }
  return {};
}

Expected<void> CsvReader::read_quoted(CsvField& field) {
  take();
  for (;;) {
    if (peek() == kEnd) {
      return tl::unexpected(error_at(field.place, "a quoted field does not end"));
    }
    const int character = take();
    if (character == '"') {
      if (peek() != '"') {
        return {};
      }
      take();
    }
    if (const Expected<void> done = append(field, character); !done) {
      return done;
    }
  }
}

Expected<void> CsvReader::append(CsvField& field, int character) {
  if (character == '\0') {
    return tl::unexpected(error_at(field.place, "this is not a text file: it holds a zero byte"));
  }
  if (field.text.size() >= kLongestField) {
    return tl::unexpected(error_at(field.place, "a field is longer than a mebibyte"));
  }
  field.text += static_cast<char>(character);
  return {};
}

}  // namespace bonescan::backend_replay
