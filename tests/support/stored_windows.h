// How far a run in progress has got, read from its run.sqlite like any other SQLite user.
#pragma once

#include "tests/support/child_process.h"

#include <sqlite3.h>

#include <chrono>
#include <string>
#include <thread>

namespace bonescan::fakes {

/// Windows that another process would find stored in the run directory by now; 0 if none.
inline int stored_windows(const std::string& directory) {
  constexpr int kBusy_ms = 1000;
  sqlite3* database = nullptr;
  sqlite3_stmt* query = nullptr;
  int count = 0;
  const std::string file = directory + "/run.sqlite";
  if (sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_busy_timeout(database, kBusy_ms) == SQLITE_OK &&
      sqlite3_prepare_v2(database, "SELECT count(*) FROM window", -1, &query, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(query) == SQLITE_ROW) {
    count = sqlite3_column_int(query, 0);
  }
  sqlite3_finalize(query);
  sqlite3_close(database);
  return count;
}

/// Kills the run, in a way that it cannot notice, once that many windows are stored.  Returns how
/// many there were; less than `windows` if the run ended before.
inline int kill_after(ChildProcess& run, const std::string& directory, int windows) {
  int stored = 0;
  while (run.running() && (stored = stored_windows(directory)) < windows) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  run.kill(SIGKILL);
  return stored;
}

}  // namespace bonescan::fakes
