// SCHEMA.md, written from the tables that the loader reads with.
#pragma once

#include <string>

namespace bonescan {

/// The whole document; the committed file equals it byte for byte.
std::string schema_markdown();

}  // namespace bonescan
