// report.json: the machine-readable result of a run, by the published schema report.schema.json.
//
// Invariants: 1. the order of keys is fixed; 2. an undefined figure is null, a number is finite;
// 3. every key is always there.
#pragma once

#include "tools/evaluate/evaluate.h"
#include "tools/evaluate/run_data.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace bonescan {

using Json = nlohmann::ordered_json;

inline constexpr int kReportSchemaVersion = 1;

Json report_json(const RunData& run, const Evaluation& evaluation);

/// Indented, with a final newline.  Bytes that are not UTF-8 are replaced, since names are user
/// input.
std::string json_text(const Json& json);

/// Null if absent or not finite.
Json json_number(std::optional<double> value);

}  // namespace bonescan
