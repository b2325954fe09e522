#include "scenarios/schema/load_scenario.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/detection_keys.h"
#include "scenarios/schema/fault_resolver.h"
#include "scenarios/schema/scenario_checks.h"
#include "scenarios/schema/scenario_keys.h"
#include "scenarios/schema/yaml_edit.h"
#include "scenarios/schema/yaml_tree.h"
#include "sim/base/fingerprint.h"

#include <filesystem>
#include <utility>

namespace bonescan {
namespace {

constexpr std::string_view kIncludePath = "confounders.file";

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

}  // namespace

Scenario parse_scenario(std::string_view text,
                        const std::string& file,
                        std::span<const std::string> settings) {
  YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  for (const std::string& setting : settings) {
    apply_setting(root, setting);
  }
  const bool included = include_confounders(root, file);
  ScenarioDraft draft;
  scenario_table().read(root, "", draft);
  apply_configuration(draft.pipeline, root);
  // An operator knows how his bridges are set.
  draft.pipeline.localize.max_idle = draft.overlay.max_idle;
  draft.pipeline.seed = draft.seed;
  check_scenario(draft, root);
  draft.faults = resolve_faults(draft.fault_drafts, Fabric(draft.fabric), draft.duration, root);
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
