// From a YAML file to a Scenario, or to an error that says where, what, and how to fix it.
#pragma once

#include "scenarios/schema/scenario.h"
#include "scenarios/schema/schema_key.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// Reads, checks and resolves one scenario file.
/// @param settings "path.to.key=value" as given by --set; applied before checking, in order
/// @throws ConfigError on anything that is not a valid scenario, a missing file included
Scenario load_scenario(const std::string& file, std::span<const std::string> settings = {});

/// The same from memory; `file` is only used in messages.  `include:`-like keys (confounders.file)
/// are resolved relative to `file`.
Scenario parse_scenario(std::string_view text,
                        const std::string& file,
                        std::span<const std::string> settings = {});

/// Every key that the loader accepts, in the order of the file.
std::vector<SchemaKey> schema_keys();

}  // namespace bonescan
