// Keys of a schema as a table in Markdown.
#pragma once

#include "scenarios/schema/schema_key.h"

#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// A table cell may not hold a bare bar.
std::string markdown_cell(std::string_view text);

std::string markdown_key_table(const std::vector<SchemaKey>& keys);

}  // namespace bonescan
