// A recorded trace of faults, read from the JSON in which InfiniteHBD published it.
//
// JSON is YAML, so the one parser that knows places reads it.  Starts and ends of (node, class,
// description) are joined first in, first out; what never ends lasts for ever.
#pragma once

#include "scenarios/schema/yaml_tree.h"

#include <string>

namespace bonescan {

/// Replaces `failures: {trace: {file: ...}}` by the faults in that file, as
/// `failures.trace.faults`.
/// @returns whether there was one
/// @throws ConfigError at the row of the file that is wrong
bool include_failure_trace(YamlNode& root, const std::string& file);

}  // namespace bonescan
