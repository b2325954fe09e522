// From faults as written to faults on components of a fabric.
#pragma once

#include "model/fabric/fabric.h"
#include "scenarios/schema/scenario_keys.h"
#include "scenarios/schema/yaml_tree.h"

#include <vector>

namespace bonescan {

/// @param root the file, for the places of what is wrong
/// @throws ConfigError: an unknown kind or component, a key that does not fit, a fault outside the
/// run, a name given twice
std::vector<FaultSpec> resolve_faults(const std::vector<FaultDraft>& drafts,
                                      const Fabric& fabric,
                                      Duration run,
                                      const YamlNode& root);

/// Likewise for the switches of `fabric.hash.switches`.
std::vector<SwitchHashOverride> resolve_hashes(const std::vector<SwitchHashDraft>& drafts,
                                               const Fabric& fabric,
                                               const YamlNode& root);

}  // namespace bonescan
