// Holds a report against the published JSON schema, with a validator that is not ours.
#pragma once

#include <cstdlib>
#include <string>

namespace bonescan::fakes {

inline bool schema_validator_installed() {
  return std::system("python3 -c 'import jsonschema' 2>/dev/null") == 0;
}

/// @param schema a file in tools/report
/// REQUIRES: schema_validator_installed().
inline bool follows_schema(const std::string& schema, const std::string& file) {
  const std::string check =
      "python3 -c 'import json, sys, jsonschema; "
      "jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate("
      "json.load(open(sys.argv[2])))' " BONESCAN_SOURCE_DIR "/tools/report/";
  return std::system((check + schema + " " + file + " 2>/dev/null").c_str()) == 0;
}

/// REQUIRES: schema_validator_installed().
inline bool follows_report_schema(const std::string& report_file) {
  return follows_schema("report.schema.json", report_file);
}

}  // namespace bonescan::fakes
