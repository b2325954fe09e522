// The keys of things that look like failures and are not.
#pragma once

#include "model/fabric/fabric.h"
#include "scenarios/schema/scenario_keys.h"
#include "scenarios/schema/yaml_tree.h"

namespace bonescan {

/// The part of the table below `confounders`, but for `confounders.telemetry`.
void add_confounder_keys(ScenarioTable& table);

/// Adds the windows in which confounders do planned work to those that detection is told of.
/// @throws ConfigError for bounds that are out of order
void resolve_confounders(ScenarioDraft& draft, const Fabric& fabric, const YamlNode& root);

}  // namespace bonescan
