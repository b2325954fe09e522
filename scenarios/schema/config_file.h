// Reading a file that a person wrote, within the limit on its size.
#pragma once

#include "scenarios/schema/source_error.h"

#include <string>
#include <string_view>

namespace bonescan {

/// At most one byte more than kMaxScenarioBytes.
/// @param wanted_at, path what to complain about if it cannot be read
/// @throws ConfigError
std::string read_config_file(const std::string& file,
                             const Position& wanted_at,
                             std::string_view path);

/// A file that is named on the command line.
/// @throws ConfigError
std::string read_config_file(const std::string& file);

}  // namespace bonescan
