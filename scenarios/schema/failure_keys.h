// The keys of failures that arise by themselves: which kinds, how often, for how long.
#pragma once

#include "scenarios/schema/scenario_keys.h"
#include "scenarios/schema/yaml_tree.h"

namespace bonescan {

/// The part of the table below `failures`.
void add_failure_keys(ScenarioTable& table);

/// Checks what the table cannot say, and fills in the end of the time in which failures arise.
/// @throws ConfigError
void resolve_failures(ScenarioDraft& draft, const YamlNode& root);

}  // namespace bonescan
