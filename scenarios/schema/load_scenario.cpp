#include "scenarios/schema/load_scenario.h"

#include "detectors/incident/maintenance.h"
#include "model/fabric/fabric_graph.h"
#include "model/fabric/wiring_fit.h"
#include "scenarios/schema/cloud_keys.h"
#include "scenarios/schema/config_file.h"
#include "scenarios/schema/confounder_keys.h"
#include "scenarios/schema/detection_keys.h"
#include "scenarios/schema/failure_keys.h"
#include "scenarios/schema/failure_trace.h"
#include "scenarios/schema/fault_resolver.h"
#include "scenarios/schema/load_keys.h"
#include "scenarios/schema/scenario_checks.h"
#include "scenarios/schema/scenario_keys.h"
#include "scenarios/schema/wiring_file.h"
#include "scenarios/schema/yaml_edit.h"
#include "scenarios/schema/yaml_tree.h"
#include "sim/base/fingerprint.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

namespace bonescan {
namespace {

constexpr std::string_view kIncludePath = "confounders.file";
constexpr std::string_view kTopologyPath = "fabric.file";

/// Replaces `confounders: {file: ...}` by what is in that file.
/// @returns whether there was one
bool include_confounders(YamlNode& root, const std::string& file) {
  YamlEntry* confounders = root.find("confounders");
  const YamlEntry* include = confounders == nullptr ? nullptr : confounders->value.find("file");
  if (include == nullptr) {
    return false;
  }
  const Position at = include->value.at;
  const std::string name = read_text(include->value, kIncludePath, {1, 1000});
  const std::string resolved = (std::filesystem::path(file).parent_path() / name).string();
  const std::string text = read_config_file(resolved, at, kIncludePath);
  YamlNode included = parse_yaml_tree(text, std::make_shared<const std::string>(resolved));
  if (const YamlEntry* nested = included.find("file")) {
    raise(nested->at, kIncludePath, {"no further file", "one", "list the keys here"});
  }
  YamlNode& beside = confounders->value;
  std::erase_if(beside.entries, [](const YamlEntry& entry) { return entry.key == "file"; });
  merge_maps(included, beside);
  beside = std::move(included);
  return true;
}

/// The keys of a preset, as they would be written.
std::string fabric_keys_text(const FabricOptions& options) {
  std::string text = fmt::format(
      "preset: {}\nsegments: {}\nhosts_per_segment: {}\nspare_hosts: 0\nrails: {}\n"
      "aggregation_switches: {}\nsegments_per_pod: {}\n",
      to_string(options.preset),
      options.segments,
      options.hosts_per_segment,
      options.rails,
      options.aggregation_switches,
      options.segments_per_pod);
  if (options.preset == FabricPreset::kThreeTier) {
    text += fmt::format("core_switches: {}\n", options.core_switches);
  }
  if (options.preset != FabricPreset::kHpn) {
    text += fmt::format("bond: {{members: {}}}\n", options.bond_members);
  }
  for (const auto& [name, tier] : {std::pair{"access", &options.access},
                                   std::pair{"uplink", &options.fabric},
                                   std::pair{"core", &options.core}}) {
    if (tier->rate.count() > 0) {
      text += fmt::format("{}: {{rate: {}}}\n", name, format_rate(tier->rate));
    }
  }
  return text;
}

/// Replaces `fabric: {file: ...}` by the preset that the cables in that file are.
/// @returns whether there was one
bool include_topology(YamlNode& root, const std::string& file) {
  YamlEntry* fabric = root.find("fabric");
  const YamlEntry* include = fabric == nullptr ? nullptr : fabric->value.find("file");
  if (include == nullptr) {
    return false;
  }
  const Position at = include->value.at;
  const std::string name = read_text(include->value, kTopologyPath, {1, 1000});
  const std::string resolved = (std::filesystem::path(file).parent_path() / name).string();
  const std::string text = read_config_file(resolved, at, kTopologyPath);
  const Wiring wiring = parse_wiring(text, resolved);
  const auto source = std::make_shared<const std::string>(resolved);
  const YamlEntry* preset_key = fabric->value.find("preset");
  YamlNode included;
  if (preset_key != nullptr && preset_key->value.text == to_string(FabricPreset::kGraph)) {
    included = parse_yaml_tree(text, source);
    std::erase_if(included.entries, [](const YamlEntry& entry) { return entry.key != "links"; });
  } else if (const auto preset = fit_preset(wiring)) {
    included = parse_yaml_tree(fabric_keys_text(*preset), source);
  } else {
    raise(at, kTopologyPath, {"the cables of a preset", in_quotes(name), preset.error().detail});
  }
  YamlNode& beside = fabric->value;
  std::erase_if(beside.entries, [](const YamlEntry& entry) { return entry.key == "file"; });
  merge_maps(included, beside);
  beside = std::move(included);
  return true;
}

/// What a preset implies for keys that are not in the file; the table refuses unknown names.
void apply_preset(ScenarioDraft& draft, const YamlNode& root) {
  const YamlNode* name = find_path(root, "fabric.preset");
  for (const FabricPreset preset :
       {FabricPreset::kRailOnly, FabricPreset::kHpn, FabricPreset::kThreeTier}) {
    if (name != nullptr && name->text == to_string(preset)) {
      draft.fabric = preset_options(preset);
    }
  }
}

/// The cables of a graph.
void apply_links(ScenarioDraft& draft, const YamlNode& root) {
  if (draft.fabric.preset != FabricPreset::kGraph) {
    return;
  }
  constexpr std::string_view kLinks = "fabric.links";
  Wiring wiring;
  for (const LinkItem& link : draft.links) {
    wiring.cables.push_back(cable_of(link));
  }
  auto graph = graph_fabric(wiring);
  if (!graph) {
    raise(locate(root, kLinks),
          kLinks,
          {"cables that make a network",
           fmt::format("{} cables", draft.links.size()),
           graph.error().detail});
  }
  draft.fabric.segments = graph->segments;
  draft.fabric.hosts_per_segment = graph->hosts_per_segment;
  draft.fabric.spare_hosts_per_segment = 0;
  draft.fabric.rails = graph->rails;
  draft.fabric.bond_members = graph->bond_members;
  draft.fabric.graph = std::move(graph->graph);
}

}  // namespace

Scenario parse_scenario(std::string_view text,
                        const std::string& file,
                        std::span<const std::string> settings) {
  YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  for (const std::string& setting : settings) {
    apply_setting(root, setting);
  }
  const bool has_topology = include_topology(root, file);
  const bool has_trace = include_cloud_trace(root, file);
  const bool has_failures = include_failure_trace(root, file);
  const bool included =
      include_confounders(root, file) || has_topology || has_trace || has_failures;
  ScenarioDraft draft;
  apply_preset(draft, root);
  scenario_table().read(root, "", draft);
  apply_links(draft, root);
  apply_configuration(draft.pipeline, root);
  // An operator knows how his bridges are set.
  draft.pipeline.localize.max_idle = draft.overlay.max_idle;
  draft.pipeline.seed = draft.seed;
  check_scenario(draft, root);
  draft.pipeline.maintenance = anchored(std::move(draft.pipeline.maintenance), 0);
  const Fabric fabric(draft.fabric);
  draft.fabric.hash_overrides = resolve_hashes(draft.hash_drafts, fabric, root);
  resolve_load(draft, fabric, root);
  draft.faults = resolve_faults(draft.fault_drafts, fabric, draft.duration, root);
  resolve_failures(draft, root);
  resolve_confounders(draft, fabric, root);
  // A text that stands alone: what was set or included is part of it, and of its hash.
  draft.text = settings.empty() && !included ? std::string(text) : emit_yaml(root);
  Fingerprint fingerprint;
  fingerprint.add(std::string_view(draft.text));
  draft.hash = fingerprint.hex();
  return Scenario(std::move(draft));
}

Scenario load_scenario(const std::string& file, std::span<const std::string> settings) {
  return parse_scenario(read_config_file(file), file, settings);
}

std::vector<SchemaKey> schema_keys() {
  return scenario_table().keys("");
}

}  // namespace bonescan
