#include "detectors/run_log/schema.h"

#include <sqlite3.h>

#include <fstream>
#include <string>

namespace bonescan::run_log {
namespace {

/// Goal: nobody adds a column without telling those who read the file.
TEST(Schema, DocumentsEveryTableAndColumn) {
  std::ifstream in(BONESCAN_SOURCE_DIR "/detectors/run_log/SCHEMA.md");
  const std::string document((std::istreambuf_iterator<char>(in)), {});
  ASSERT_FALSE(document.empty());
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(":memory:", &connection), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(connection, kCreateSchema, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_stmt* columns = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(connection,
                               "SELECT m.name, c.name FROM sqlite_master m, "
                               "pragma_table_info(m.name) c WHERE m.type = 'table'",
                               -1,
                               &columns,
                               nullptr),
            SQLITE_OK);
  int count = 0;
  while (sqlite3_step(columns) == SQLITE_ROW) {
    const std::string table = reinterpret_cast<const char*>(sqlite3_column_text(columns, 0));
    const std::string column = reinterpret_cast<const char*>(sqlite3_column_text(columns, 1));
    const bool has_section = document.find("## " + table + ":") != std::string::npos;
    const std::size_t row = document.find("| `" + table + "` |");
    EXPECT_TRUE(has_section || row != std::string::npos) << table;
    const std::string text =
        has_section ? document : document.substr(row, document.find('\n', row) - row);
    EXPECT_NE(text.find("`" + column + "`"), std::string::npos) << table << "." << column;
    ++count;
  }
  EXPECT_GT(count, 100);
  sqlite3_finalize(columns);
  sqlite3_close(connection);
}

}  // namespace
}  // namespace bonescan::run_log
