// The cables that an agent's configuration names.
#pragma once

#include "detectors/backend_trace/topology.h"
#include "tools/agent/agent_config.h"

#include <optional>

namespace bonescan {

/// Nothing if no file is configured.
/// @throws ConfigError
std::optional<TopologyDraft> load_agent_topology(const AgentConfig& config);

}  // namespace bonescan
