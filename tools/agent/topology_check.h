// Whether a topology fits the inventory; apart from agent_topology.h, whose names of cables and
// nodes are other things than the simulator's.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "scenarios/schema/yaml_tree.h"
#include "tools/agent/agent_config.h"

#include <string>

namespace bonescan {

/// @param root the file, for the places of what is wrong
/// @param section of the topology in that file; empty: the root
/// @throws ConfigError
void check_topology(const TopologyConfig& config,
                    const EndpointDirectory& endpoints,
                    const YamlNode& root,
                    const std::string& section);

}  // namespace bonescan
