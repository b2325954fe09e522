#include "tools/agent/agent_topology.h"

#include "scenarios/schema/yaml_edit.h"
#include "tools/agent/topology_check.h"

#include <fmt/format.h>

#include <sstream>

namespace bonescan {

TopologyDraft topology_draft(const TopologyConfig& config) {
  TopologyDraft draft;
  draft.symmetric_hashing = config.symmetric_hashing;
  for (const SwitchConfig& known : config.switches) {
    SwitchSpec spec{.name = known.name, .routes = known.routes, .addresses = {}};
    std::istringstream words(known.addresses);
    for (std::string address; words >> address;) {
      spec.addresses.push_back(std::move(address));
    }
    draft.switches.push_back(std::move(spec));
  }
  for (const CableConfig& cable : config.cables) {
    draft.cables.push_back({.from = cable.from, .to = cable.to, .name = cable.name});
  }
  return draft;
}

void check_topology(const TopologyConfig& config,
                    const EndpointDirectory& endpoints,
                    const YamlNode& root,
                    const std::string& section) {
  const auto problem = find_problem(topology_draft(config), endpoints);
  if (!problem) {
    return;
  }
  const std::string_view list =
      problem->where == TopologyProblem::Where::kSwitch ? "switches" : "cables";
  const std::string path =
      fmt::format("{}{}{}[{}]", section, section.empty() ? "" : ".", list, problem->index);
  raise(locate(root, path), path, {problem->expected, problem->found, problem->hint});
}

}  // namespace bonescan
