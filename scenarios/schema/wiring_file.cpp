#include "scenarios/schema/wiring_file.h"

#include "scenarios/schema/key_table.h"
#include "scenarios/schema/source_error.h"
#include "scenarios/schema/wiring_keys.h"
#include "scenarios/schema/yaml_prescan.h"
#include "scenarios/schema/yaml_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

namespace bonescan {
namespace {

constexpr Range<std::size_t> kName{1, 200};

struct SwitchItem {
  std::string name;
  std::string addresses;
  bool routes = true;
};

struct TopologyFile {
  bool symmetric_hashing = false;
  std::vector<SwitchItem> switches;
  std::vector<LinkItem> links;
};

KeyTable<TopologyFile> topology_table() {
  KeyTable<SwitchItem> switches;
  switches.text("name", kName, field(&SwitchItem::name), "Name of the switch.").required();
  switches.choice<bool>("kind",
                        {{"router", true}, {"bridge", false}},
                        field(&SwitchItem::routes),
                        "For path tracing: whether it takes one from the TTL of a packet.");
  switches
      .text("addresses",
            {0, 10'000},
            field(&SwitchItem::addresses),
            "For path tracing: IP addresses from which it answers, with commas between them.")
      .otherwise("none");
  KeyTable<TopologyFile> table;
  table.choice<bool>("symmetric_hashing",
                     {{"no", false}, {"yes", true}},
                     field(&TopologyFile::symmetric_hashing),
                     "For path tracing: whether answers take the way of their request.");
  table.list("switches",
             {0, 10'000},
             std::move(switches),
             field(&TopologyFile::switches),
             "The switches. If there are any, all of them must be here.");
  table.list("links", {1, 100'000}, link_table(), field(&TopologyFile::links), "The cables.")
      .required();
  return table;
}

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

std::string read_small_file(const std::string& file) {
  const Position nowhere{std::make_shared<const std::string>(file), 0, 0};
  std::error_code ignored;
  std::ifstream stream(file, std::ios::binary);
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

Wiring load_wiring(const std::string& file) {
  return parse_wiring(read_small_file(file), file);
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

std::vector<SchemaKey> wiring_keys() {
  return topology_table().keys("");
}

}  // namespace bonescan
