// The keys of the cloud: containers that come and go.
#pragma once

#include "scenarios/schema/scenario_keys.h"
#include "scenarios/schema/yaml_tree.h"

#include <string>

namespace bonescan {

/// The part of the table below `cloud`.
void add_cloud_keys(ScenarioTable& table);

/// What the tables cannot say: quantiles in order, shapes that fit into a host, and so on.
/// @throws ConfigError
void check_cloud(const Scenario& scenario, const YamlNode& root);

/// Replaces `cloud: {trace: {file: ...}}` by the tasks in that file, as `cloud.tasks`.
/// @returns whether there was one
/// @throws ConfigError
bool include_cloud_trace(YamlNode& root, const std::string& file);

}  // namespace bonescan
