#include "scenarios/schema/key_markdown.h"

#include <fmt/format.h>

namespace bonescan {

std::string markdown_cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '|' ? "\\|" : std::string(1, c);
  }
  return result;
}

std::string markdown_key_table(const std::vector<SchemaKey>& keys) {
  std::string rows = "| Key | Type | Default | Range | Meaning |\n|---|---|---|---|---|\n";
  for (const SchemaKey& key : keys) {
    rows += fmt::format("| `{}` | {} | {} | {} | {} |\n",
                        key.path,
                        markdown_cell(key.type),
                        markdown_cell(key.fallback),
                        markdown_cell(key.range),
                        markdown_cell(key.meaning));
  }
  return rows;
}

}  // namespace bonescan
