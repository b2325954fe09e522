// What a campaign's database holds, as lines of text, whatever the order of its rows.
//
// Left out is what no two campaigns have in common: wall times and command lines.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <vector>

namespace bonescan::fakes {

/// The rows of a query, columns joined by '|'; empty if there is no such file or table (yet).
inline std::vector<std::string> query_lines(const std::string& file, const std::string& sql) {
  std::vector<std::string> lines;
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK) {
    while (sqlite3_step(statement) == SQLITE_ROW) {
      std::string line;
      for (int c = 0; c < sqlite3_column_count(statement); ++c) {
        const unsigned char* text = sqlite3_column_text(statement, c);
        line += text == nullptr ? "|" : "|" + std::string(reinterpret_cast<const char*>(text));
      }
      lines.push_back(line);
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return lines;
}

inline std::vector<std::string> campaign_contents(const std::string& file) {
  std::vector<std::string> all;
  for (const char* sql :
       {"SELECT name, file_hash, build_commit FROM campaign",
        "SELECT * FROM cell ORDER BY 1",
        "SELECT * FROM cell_value ORDER BY 1, 2",
        "SELECT cell, seed, scheme, fingerprint, simulated_s, rnic_days, probes, sweep_s, "
        "false_positives, duplicates, failure FROM run ORDER BY 1, 2, 3",
        "SELECT * FROM fault ORDER BY 1, 2, 3, 4",
        "SELECT * FROM incident ORDER BY 1, 2, 3, 4"}) {
    const std::vector<std::string> lines = query_lines(file, sql);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

inline std::size_t stored_runs(const std::string& file) {
  const auto lines = query_lines(file, "SELECT count(*) FROM run");
  return lines.empty() ? 0 : std::stoul(lines.front().substr(1));
}

}  // namespace bonescan::fakes
