// What every loader of a configuration has to offer: its one error, and its keys.
#pragma once

#include <stdexcept>
#include <string>

namespace bonescan {

/// what() is "file:line:col: path.to.key: expected ...; found ...; hint".
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One key of the schema, for SCHEMA.md and the test that compares them.
struct SchemaKey {
  std::string path;      ///< "fabric.segments", "faults[].at"
  std::string type;      ///< "count", "duration", "ratio", "rate", "text", "one of a | b", ...
  std::string fallback;  ///< default as it would be written, "required" if there is none
  std::string range;     ///< "1 .. 64", empty if any
  std::string meaning;
};

}  // namespace bonescan
