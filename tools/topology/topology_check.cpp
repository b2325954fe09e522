#include "tools/topology/topology_check.h"

#include "model/fabric/wiring_fit.h"
#include "scenarios/schema/config_file.h"
#include "scenarios/schema/load_scenario.h"
#include "scenarios/schema/wiring_file.h"
#include "scenarios/schema/yaml_tree.h"
#include "tools/topology/host_type.h"
#include "tools/topology/neighbours.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace bonescan {
namespace {

/// A scenario's fabric, or the cables of a topology file.
struct Blueprint {
  std::optional<Fabric> fabric;
  Wiring wiring;
};

Blueprint read_blueprint(const std::string& file) {
  const std::string text = read_config_file(file);
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  Blueprint blueprint;
  if (root.find("links") != nullptr) {
    blueprint.wiring = parse_wiring(text, file);
  } else {
    blueprint.fabric.emplace(parse_scenario(text, file).fabric);
    blueprint.wiring = wiring_of(*blueprint.fabric);
  }
  return blueprint;
}

template <class T>
T value_or_complain(Expected<T> read) {
  if (!read) {
    throw ConfigError(read.error().detail);
  }
  return std::move(*read);
}

Wiring read_found(const TopologyArguments& arguments) {
  Wiring all;
  for (const std::string& file : arguments.files) {
    const std::string text = read_config_file(file);
    Wiring one;
    if (arguments.format == "ibnetdiscover") {
      one = value_or_complain(parse_ibnetdiscover(text, file));
    } else if (arguments.format == "lldp") {
      one = value_or_complain(parse_lldp(text, file, std::filesystem::path(file).stem().string()));
    } else {
      one = parse_wiring(text, file);
    }
    all.cables.insert(all.cables.end(), one.cables.begin(), one.cables.end());
  }
  return all;
}

void rename_nodes(Wiring& wiring, const std::string& file) {
  std::map<std::string, std::string> names;
  for (auto& [is, as] : parse_node_names(read_config_file(file), file)) {
    names.emplace(std::move(is), std::move(as));
  }
  for (WiringCable& cable : wiring.cables) {
    for (WiringEnd* end : {&cable.lower, &cable.upper}) {
      const auto found = names.find(end->node);
      if (found != names.end()) {
        end->node = found->second;
      }
    }
  }
}

TopologyReport check_hosts(const TopologyArguments& arguments) {
  const Blueprint blueprint = read_blueprint(arguments.blueprint);
  if (!blueprint.fabric) {
    throw ConfigError(fmt::format(
        "{}: a host is checked against a scenario, which says how many RNICs it has and how fast",
        arguments.blueprint));
  }
  TopologyReport report{
      arguments.blueprint, fmt::format("{} host types", arguments.files.size()), {}};
  for (const std::string& file : arguments.files) {
    const HostType host = value_or_complain(parse_nccl_topology(read_config_file(file), file));
    for (const std::string& text : check_host_type(host, *blueprint.fabric)) {
      report.findings.push_back({WiringFault::kHost, fmt::format("{}: {}", file, text), {}});
    }
  }
  return report;
}

}  // namespace

Wiring blueprint_wiring(const std::string& file) {
  return read_blueprint(file).wiring;
}

TopologyReport check_topology_files(const TopologyArguments& arguments) {
  if (arguments.format == "nccl") {
    return check_hosts(arguments);
  }
  const Blueprint blueprint = read_blueprint(arguments.blueprint);
  Wiring found = read_found(arguments);
  if (!arguments.names.empty()) {
    rename_nodes(found, arguments.names);
  }
  if (blueprint.fabric) {
    normalize_ports(found, *blueprint.fabric);
  }
  merge_mentions(found);
  const Wiring planned =
      blueprint.fabric ? wiring_like(found, *blueprint.fabric) : blueprint.wiring;
  return {arguments.blueprint,
          fmt::format("{} cables, {} planned", found.cables.size(), planned.cables.size()),
          check_wiring(planned, found)};
}

std::string topology_text(const TopologyReport& report) {
  std::string text;
  for (const WiringFinding& finding : report.findings) {
    text += fmt::format("{}: {}\n", to_string(finding.fault), finding.text);
  }
  return text + fmt::format("{}: {} against {}\n",
                            report.findings.empty()
                                ? "as planned"
                                : fmt::format("{} findings", report.findings.size()),
                            report.subject,
                            report.blueprint);
}

std::string topology_json(const TopologyReport& report) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const WiringFinding& finding : report.findings) {
    findings.push_back(
        {{"fault", to_string(finding.fault)}, {"text", finding.text}, {"ends", finding.ends}});
  }
  const nlohmann::ordered_json document = {
      {"blueprint", report.blueprint}, {"subject", report.subject}, {"findings", findings}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace bonescan
