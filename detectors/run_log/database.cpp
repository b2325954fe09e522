#include "detectors/run_log/database.h"

#include "sim/base/check.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <system_error>
#include <unistd.h>

namespace bonescan::run_log {
namespace {

constexpr int kBusyTimeoutMs = 5000;

/// What the caller can do about it decides the code: a broken file is input, the rest is the
/// system.
Error error_of(sqlite3* connection) {
  const int code = sqlite3_errcode(connection);
  const bool broken = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
  const char* file = sqlite3_db_filename(connection, "main");
  return {broken ? ErrorCode::kInvalid : ErrorCode::kIo,
          fmt::format("run log {}: {}", file == nullptr ? "" : file, sqlite3_errmsg(connection))};
}

/// Percent-encodes what has a meaning in an SQLite URI.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
  return is_null(column) ? std::numeric_limits<double>::quiet_NaN()
                         : sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr
             ? std::string()
             : std::string(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
}

std::span<const std::byte> Statement::blob(int column) const {
  const void* blob = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const std::byte*>(blob),
          blob == nullptr ? 0 : static_cast<std::size_t>(size)};
}

Expected<bool> Statement::step() {
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return tl::unexpected(error_of(sqlite3_db_handle(statement_.get())));
  }
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

void Statement::bind_one(int position, std::int64_t value) {
  BONESCAN_CHECK(sqlite3_bind_int64(statement_.get(), position, value) == SQLITE_OK);
}

void Statement::bind_one(int position, double value) {
  BONESCAN_CHECK(sqlite3_bind_double(statement_.get(), position, value) == SQLITE_OK);
}

// A value above SQLite's size limit, or memory running out, leaves the parameter NULL; every such
// column is NOT NULL, so the insertion then fails with an error.
void Statement::bind_one(int position, std::string_view value) {
  const char* data = value.data() == nullptr ? "" : value.data();
  sqlite3_bind_text64(statement_.get(), position, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind_one(int position, std::span<const std::byte> value) {
  static constexpr std::byte kNothing{};
  const std::byte* data = value.data() == nullptr ? &kNothing : value.data();
  sqlite3_bind_blob64(statement_.get(), position, data, value.size(), SQLITE_STATIC);
}

void Statement::bind_one(int position, std::nullopt_t) {
  BONESCAN_CHECK(sqlite3_bind_null(statement_.get(), position) == SQLITE_OK);
}

Expected<void> Statement::run_bound() {
  Expected<bool> more = true;
  while (more && *more) {
    more = step();
  }
  reset();
  sqlite3_clear_bindings(statement_.get());
  if (!more) {
    return tl::unexpected(more.error());
  }
  return {};
}

void Database::Close::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

Expected<Database> Database::open_with(const std::string& path,
                                       const std::string& name,
                                       int flags) {
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
  Database database(path, connection);
  if (code != SQLITE_OK) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot open run log {}: {}", path, sqlite3_errstr(code)));
  }
  sqlite3_extended_result_codes(connection, 0);
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  return database;
}

Expected<Database> Database::create(const std::string& path) {
  // SQLite would gladly append to an existing file, and its own messages do not say why a file
  // cannot be made.
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0) {
    return fail(ErrorCode::kIo,
                fmt::format("cannot create run log {}: {}", path, std::strerror(errno)));
  }
  ::close(file);
  return open_with(path, path, SQLITE_OPEN_READWRITE);
}

Expected<Database> Database::open(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return fail(ErrorCode::kIo, fmt::format("cannot open run log {}: no such file", path));
  }
  Expected<Database> database = open_with(path, path, SQLITE_OPEN_READONLY);
  if (database && database->integer("SELECT count(*) FROM sqlite_master")) {
    return database;
  }
  // A file in write-ahead mode cannot be read the ordinary way where nothing can be written beside
  // it.  Nobody can be writing there either, so it may be read as it is.
  Expected<Database> immutable =
      open_with(path, uri_of(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  if (immutable) {
    const Expected<std::int64_t> tables = immutable->integer("SELECT count(*) FROM sqlite_master");
    if (!tables) {
      return tl::unexpected(tables.error());
    }
  }
  return immutable;
}

Expected<Database> Database::open_to_write(const std::string& path) {
  return open_with(path, path, SQLITE_OPEN_READWRITE);
}

Expected<void> Database::execute(const char* sql) {
  if (sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return tl::unexpected(error_of(connection_.get()));
  }
  return {};
}

Expected<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(),
                                      sql.data(),
                                      static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT,
                                      &prepared,
                                      nullptr);
  if (code != SQLITE_OK) {
    return tl::unexpected(error_of(connection_.get()));
  }
  Statement statement;
  statement.statement_.reset(prepared);
  return statement;
}

Expected<std::int64_t> Database::integer(std::string_view sql) const {
  Expected<Statement> statement = prepare(sql);
  if (!statement) {
    return tl::unexpected(statement.error());
  }
  const Expected<bool> row = statement->step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  return *row ? statement->integer(0) : 0;
}

}  // namespace bonescan::run_log
