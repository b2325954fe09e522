// Reading a file of gates.  Its keys are described in README.md beside this file; a test compares
// the two.
#pragma once

#include "scenarios/schema/schema_key.h"
#include "tools/gates/gate.h"

#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// @throws ConfigError "file:line:col: path: expected ...; found ...; hint: ..."
GateFile parse_gate_file(std::string_view text, const std::string& file);
GateFile load_gate_file(const std::string& file);

/// Every key, for README.md.
std::vector<SchemaKey> gate_schema_keys();

/// The table of measures in Markdown, for README.md.
std::string measure_table_markdown();

}  // namespace bonescan
