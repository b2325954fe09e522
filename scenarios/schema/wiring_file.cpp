#include "scenarios/schema/wiring_file.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/source_error.h"
#include "scenarios/schema/topology_keys.h"
#include "scenarios/schema/yaml_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace bonescan {
namespace {

constexpr Range<std::size_t> kName{1, 200};

struct NameItem {
  std::string is;
  std::string as;
};

struct NamesFile {
  std::vector<NameItem> names;
};

/// Text that is safe between quotes in YAML.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result;
}

std::string end_name(const WiringEnd& end) {
  const bool is_host_port = end.port.find_first_not_of("0123456789") != std::string::npos;
  return is_host_port ? end.node + "/" + end.port : end.node;
}

}  // namespace

Wiring parse_wiring(std::string_view text, const std::string& file) {
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  TopologyFile read;
  topology_table().read(root, "", read);
  std::set<std::string> switches;
  for (std::size_t i = 0; i < read.switches.size(); ++i) {
    if (!switches.insert(read.switches[i].name).second) {
      raise(root.find("switches")->value.items[i].at,
            fmt::format("switches[{}]", i),
            {"one entry per switch", in_quotes(read.switches[i].name), "delete one of them"});
    }
  }
  Wiring wiring;
  for (std::size_t i = 0; i < read.links.size(); ++i) {
    const LinkItem& link = read.links[i];
    const auto complain = [&](const Complaint& complaint) {
      raise(root.find("links")->value.items[i].at, fmt::format("links[{}]", i), complaint);
    };
    if (link.from == link.to) {
      complain({"two ends", in_quotes(link.from), "a cable joins two different things"});
    }
    if (!switches.empty() && switches.count(link.to) == 0 && link.to.find('/') == link.to.npos) {
      complain({"a switch of the list", in_quotes(link.to), "add it to switches"});
    }
    wiring.cables.push_back(cable_of(link));
  }
  return wiring;
}

Wiring load_wiring(const std::string& file) {
  return parse_wiring(read_config_file(file), file);
}

std::vector<std::pair<std::string, std::string>> parse_node_names(std::string_view text,
                                                                  const std::string& file) {
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  KeyTable<NameItem> items;
  items.text("is", kName, field(&NameItem::is), "Name of a node as it was found.").required();
  items.text("as", kName, field(&NameItem::as), "Its name in the blueprint.").required();
  KeyTable<NamesFile> table;
  table.list("names", {1, 100'000}, items, field(&NamesFile::names), "Names of nodes.").required();
  NamesFile read;
  table.read(root, "", read);
  std::vector<std::pair<std::string, std::string>> names;
  for (NameItem& item : read.names) {
    names.emplace_back(std::move(item.is), std::move(item.as));
  }
  return names;
}

std::string wiring_text(const Wiring& wiring) {
  std::string text = "links:\n";
  for (const WiringCable& cable : wiring.cables) {
    text += fmt::format("  - {{from: \"{}\"", escaped(end_name(cable.lower)));
    if (end_name(cable.lower) == cable.lower.node && !cable.lower.port.empty()) {
      text += fmt::format(", from_port: \"{}\"", escaped(cable.lower.port));
    }
    text += fmt::format(", to: \"{}\"", escaped(end_name(cable.upper)));
    if (end_name(cable.upper) == cable.upper.node && !cable.upper.port.empty()) {
      text += fmt::format(", to_port: \"{}\"", escaped(cable.upper.port));
    }
    if (cable.rate.count() > 0) {
      text += ", rate: " + format_rate(cable.rate);
    }
    text += "}\n";
  }
  return text;
}

}  // namespace bonescan
