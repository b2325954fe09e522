// Run logs as files: what the tests of the log share.
#pragma once

#include "tests/run_log/sample_rows.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <vector>

namespace bonescan {

inline const EndpointDirectory& endpoints() {
  static const EndpointDirectory directory = fakes::fake_endpoints(2, 2);
  return directory;
}

inline std::unique_ptr<RunLogWriter> create(const std::string& path) {
  auto writer = RunLogWriter::create(path, samples::run_info(), endpoints());
  EXPECT_TRUE(writer) << writer.error().detail;
  return std::move(*writer);
}

inline std::unique_ptr<RunLogReader> open(const std::string& path) {
  auto reader = RunLogReader::open(path);
  EXPECT_TRUE(reader) << (reader ? "" : reader.error().detail);
  return reader ? std::move(*reader) : nullptr;
}

inline void execute(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << message;
  sqlite3_free(message);
  sqlite3_close(connection);
}

inline std::vector<ObservedRound> rounds_of(const RunLogReader& reader) {
  std::vector<ObservedRound> rounds;
  EXPECT_TRUE(reader.for_each_round([&](const ObservedRound& round) { rounds.push_back(round); }));
  return rounds;
}

/// One window: a round of 20 visits, names, nothing else.
inline void write_window(RunLogWriter& writer, std::int64_t window) {
  const Time now = fakes::at_s(30 * window);
  writer.observed(now, samples::batch(static_cast<std::uint32_t>(window), 20, false));
  PipelineUpdates updates;
  WindowRecord record;
  record.from = now - std::chrono::seconds(30);
  record.to = now;
  updates.windows.push_back(record);
  writer.updates(updates, {}, samples::pairs());
  EXPECT_TRUE(writer.flush(now, samples::components()));
}

}  // namespace bonescan
