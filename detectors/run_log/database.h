// A thin owner of an SQLite connection and its prepared statements, with errors as values.
//
// Thread-compatible.  A statement must not outlive its database.
#pragma once

#include "sim/base/error.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace bonescan::run_log {

class Statement final {
 public:
  Statement() = default;

  /// Columns of the row that step() stopped at.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;  ///< NaN for NULL, which is how SQLite stores NaN
  std::string text(int column) const;
  /// Valid until the next step() or reset().
  std::span<const std::byte> blob(int column) const;

  std::uint32_t index(int column) const { return static_cast<std::uint32_t>(integer(column)); }

  Time time(int column) const { return Time(Duration(integer(column))); }

  std::optional<Time> optional_time(int column) const {
    return is_null(column) ? std::nullopt : std::optional(time(column));
  }

  /// Binds the parameters in order.  Texts and blobs must live until the statement is reset.
  template <class... Values>
  Statement& bind(const Values&... values) {
    reset();
    int position = 0;
    (bind_one(++position, values), ...);
    return *this;
  }

  /// True if there is a row to read.
  Expected<bool> step();
  void reset();

  /// Binds, runs to the end and resets.
  template <class... Values>
  Expected<void> run(const Values&... values) {
    bind(values...);
    return run_bound();
  }

 private:
  friend class Database;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  void bind_one(int position, std::int64_t value);
  void bind_one(int position, double value);
  void bind_one(int position, std::string_view value);
  void bind_one(int position, std::span<const std::byte> value);
  void bind_one(int position, std::nullopt_t);

  void bind_one(int position, std::uint32_t value) {
    bind_one(position, static_cast<std::int64_t>(value));
  }

  void bind_one(int position, std::uint64_t value) {
    bind_one(position, static_cast<std::int64_t>(value));
  }

  void bind_one(int position, const std::string& value) {
    bind_one(position, std::string_view(value));
  }

  void bind_one(int position, Time value) { bind_one(position, nanoseconds(value)); }

  void bind_one(int position, Duration value) {
    bind_one(position, static_cast<std::int64_t>(value.count()));
  }

  template <class T>
  void bind_one(int position, const std::optional<T>& value) {
    if (value) {
      bind_one(position, *value);
    } else {
      bind_one(position, std::nullopt);
    }
  }

  Expected<void> run_bound();

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database final {
 public:
  /// A new file.  @errors kIo if it exists or cannot be made
  static Expected<Database> create(const std::string& path);
  /// An existing file, read only; the log of a killed writer is recovered if it is there.
  /// @errors kIo
  static Expected<Database> open(const std::string& path);
  /// An existing file to go on writing; an empty one is a database without tables.  @errors kIo
  static Expected<Database> open_to_write(const std::string& path);

  const std::string& path() const { return path_; }

  Expected<void> execute(const char* sql);
  Expected<Statement> prepare(std::string_view sql) const;
  /// The single integer of the first row of a query.
  Expected<std::int64_t> integer(std::string_view sql) const;

  /// Calls `row(statement)` for every row.
  template <class Row>
  Expected<void> for_each(std::string_view sql, Row row) const {
    Expected<Statement> statement = prepare(sql);
    if (!statement) {
      return tl::unexpected(statement.error());
    }
    for (;;) {
      const Expected<bool> more = statement->step();
      if (!more) {
        return tl::unexpected(more.error());
      }
      if (!*more) {
        return {};
      }
      row(*statement);
    }
  }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  Database(std::string path, sqlite3* connection)
      : path_(std::move(path)), connection_(connection) {}

  static Expected<Database> open_with(const std::string& path, const std::string& name, int flags);

  std::string path_;
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace bonescan::run_log
