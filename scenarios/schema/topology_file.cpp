#include "scenarios/schema/topology_file.h"

#include "scenarios/schema/key_table.h"
#include "scenarios/schema/source_error.h"
#include "scenarios/schema/yaml_prescan.h"
#include "scenarios/schema/yaml_tree.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

namespace bonescan {
namespace {

constexpr Range<std::size_t> kName = {1, 200};

/// A switch whose addresses are still one text.
struct SwitchItem {
  SwitchSpec spec;
  std::string addresses;
};

struct TopologyFile {
  bool symmetric_hashing = false;
  std::vector<SwitchItem> switches;
  std::vector<CableSpec> links;
};

KeyTable<TopologyFile> topology_table() {
  KeyTable<SwitchItem> switches;
  switches.text("name", kName, field(&SwitchItem::spec, &SwitchSpec::name), "Name of the switch.")
      .required();
  switches.choice<bool>("kind",
                        {{"router", true}, {"bridge", false}},
                        field(&SwitchItem::spec, &SwitchSpec::routes),
                        "A router takes one from the TTL of a packet, a bridge does not.");
  switches
      .text("addresses",
            {0, 10'000},
            field(&SwitchItem::addresses),
            "IP addresses from which it answers to traceroute, with commas between them.")
      .otherwise("none: it is taken for silent");
  KeyTable<CableSpec> links;
  links.text("from", kName, field(&CableSpec::from), "Lower end: an endpoint or a switch.")
      .required();
  links.text("to", kName, field(&CableSpec::to), "Upper end.").required();
  links.text("name", {0, 400}, field(&CableSpec::name), "What reports call the link.")
      .otherwise("link(from, to)");
  KeyTable<TopologyFile> table;
  table.choice<bool>(
      "symmetric_hashing",
      {{"no", false}, {"yes", true}},
      field(&TopologyFile::symmetric_hashing),
      "Whether the answer to a probe takes the way of the probe: every switch hashes "
      "both directions of a flow alike. Say yes only if you know.");
  table.list("switches",
             {0, 10'000},
             std::move(switches),
             field(&TopologyFile::switches),
             "The switches. If there are any, all of them must be here.");
  table.list("links", {1, 100'000}, std::move(links), field(&TopologyFile::links), "The cables.")
      .required();
  return table;
}

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

std::string read_topology_file(const std::string& file) {
  std::error_code ignored;
  std::ifstream stream(file, std::ios::binary);
  const Position nowhere{std::make_shared<const std::string>(file), 0, 0};
  if (!stream || std::filesystem::is_directory(file, ignored)) {
    raise(nowhere,
          kWholeFile,
          {"a readable file", in_quotes(file), "check the name and the permissions"});
  }
  std::string text(kMaxScenarioBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
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
    item.spec.addresses = split(item.addresses);
    draft.switches.push_back(std::move(item.spec));
  }
  draft.cables = std::move(read.links);
  if (const auto problem = find_problem(draft, endpoints)) {
    complain(*problem, root);
  }
  return draft;
}

TopologyDraft load_topology(const std::string& file, const EndpointDirectory& endpoints) {
  return parse_topology(read_topology_file(file), file, endpoints);
}

std::vector<SchemaKey> topology_keys() {
  return topology_table().keys("");
}

}  // namespace bonescan
