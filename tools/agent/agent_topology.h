// The topology of a configuration in the words of backend_trace.
#pragma once

#include "detectors/backend_trace/topology.h"
#include "scenarios/schema/yaml_tree.h"
#include "tools/agent/agent_config.h"

#include <string>

namespace bonescan {

TopologyDraft topology_draft(const TopologyConfig& config);

}  // namespace bonescan
