#include "scenarios/schema/topology_file.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/source_error.h"
#include "scenarios/schema/topology_keys.h"
#include "scenarios/schema/yaml_tree.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace bonescan {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(", ");
    if (end != 0) {
      words.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return words;
}

[[noreturn]] void complain(const TopologyProblem& problem, const YamlNode& root) {
  const std::string_view list =
      problem.where == TopologyProblem::Where::kSwitch ? "switches" : "links";
  const YamlEntry* entry = root.find(list);
  raise(entry->value.items[problem.index].at,
        fmt::format("{}[{}]", list, problem.index),
        {problem.expected, problem.found, problem.hint});
}

}  // namespace

TopologyDraft parse_topology(std::string_view text,
                             const std::string& file,
                             const EndpointDirectory& endpoints) {
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  TopologyFile read;
  topology_table().read(root, "", read);
  TopologyDraft draft;
  draft.symmetric_hashing = read.symmetric_hashing;
  for (SwitchItem& item : read.switches) {
    draft.switches.push_back({std::move(item.name), item.routes, split(item.addresses)});
  }
  for (LinkItem& link : read.links) {
    draft.cables.push_back({std::move(link.from), std::move(link.to), std::move(link.name)});
  }
  if (const auto problem = find_problem(draft, endpoints)) {
    complain(*problem, root);
  }
  return draft;
}

TopologyDraft load_topology(const std::string& file, const EndpointDirectory& endpoints) {
  return parse_topology(read_config_file(file), file, endpoints);
}

}  // namespace bonescan
