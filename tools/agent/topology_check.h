// Whether the topology file of a configuration is one; apart from agent_topology.h, whose cables
// and nodes are other things than the simulator's of the same name.
#pragma once

#include "tools/agent/agent_config.h"

namespace bonescan {

/// @throws ConfigError
void check_topology(const AgentConfig& config);

}  // namespace bonescan
