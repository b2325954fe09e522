// The tables of run.sqlite.  SCHEMA.md tells what every column means.
#pragma once

#include <cstdint>

namespace bonescan::run_log {

/// `pragma application_id`: "bnsc".
constexpr std::int64_t kApplicationId = 0x626E7363;
/// `pragma user_version`; a file of another version is refused.
constexpr std::int64_t kSchemaVersion = 5;

/// Creates everything in an empty file.
extern const char* const kCreateSchema;

}  // namespace bonescan::run_log
