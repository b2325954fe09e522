// From a YAML file to a Scenario, or to an error that says where, what, and how to fix it.
#pragma once

#include "scenarios/schema/scenario.h"

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bonescan {

/// what() is "file:line:col: path.to.key: expected ...; found ...; hint".
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads, checks and resolves one scenario file.
/// @param settings "path.to.key=value" as given by --set; applied before checking, in order
/// @throws ConfigError on anything that is not a valid scenario, a missing file included
Scenario load_scenario(const std::string& file, std::span<const std::string> settings = {});

/// The same from memory; `file` is only used in messages.  `include:`-like keys (confounders.file)
/// are resolved relative to `file`.
Scenario parse_scenario(std::string_view text,
                        const std::string& file,
                        std::span<const std::string> settings = {});

/// One key of the schema, for SCHEMA.md and the test that compares them.
struct SchemaKey {
  std::string path;      ///< "fabric.segments", "faults[].at"
  std::string type;      ///< "count", "duration", "ratio", "rate", "text", "one of a | b", ...
  std::string fallback;  ///< default as it would be written, "required" if there is none
  std::string range;     ///< "1 .. 64", empty if any
  std::string meaning;
};

/// Every key that the loader accepts, in the order of the file.
std::vector<SchemaKey> schema_keys();

}  // namespace bonescan
