// Rules that hold between keys, after each has been read by itself.
#pragma once

#include "scenarios/schema/scenario.h"
#include "scenarios/schema/yaml_tree.h"

namespace bonescan {

/// Jobs against each other and against the fabric; detection against itself.
/// @param root the file, for the places of what is wrong
/// @throws ConfigError
void check_scenario(const Scenario& scenario, const YamlNode& root);

}  // namespace bonescan
