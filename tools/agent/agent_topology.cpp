#include "tools/agent/agent_topology.h"

#include "scenarios/schema/topology_file.h"
#include "tools/agent/topology_check.h"

#include <filesystem>

namespace bonescan {

std::optional<TopologyDraft> load_agent_topology(const AgentConfig& config) {
  if (config.topology_file.empty()) {
    return std::nullopt;
  }
  const auto file = std::filesystem::path(config.file).parent_path() / config.topology_file;
  return load_topology(file.string(), endpoint_directory(config));
}

void check_topology(const AgentConfig& config) {
  load_agent_topology(config);
}

}  // namespace bonescan
