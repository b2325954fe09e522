#include "tools/agent/agent_reload.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

namespace bonescan {
namespace {

constexpr std::array<std::string_view, 3> kChangeable = {"limits.", "agent.flush", "agent.visits."};
constexpr std::size_t kMaxNamed = 3;

/// Every single value of a file by its path, "inventory[2].device".
using Values = std::map<std::string, std::string>;

struct Place {
  std::string path;
  const YamlNode* node;
};

Values values_of(const std::string& text, const std::string& file) {
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  Values values;
  // Nesting is bounded by the parser; the list of places keeps the walk from recursing.
  std::vector<Place> places = {{"", &root}};
  while (!places.empty()) {
    const Place place = std::move(places.back());
    places.pop_back();
    if (place.node->kind == YamlNode::Kind::kScalar) {
      values[place.path] = place.node->text;
    }
    for (const YamlEntry& entry : place.node->entries) {
      places.push_back({join_path(place.path, entry.key), &entry.value});
    }
    for (std::size_t i = 0; i < place.node->items.size(); ++i) {
      places.push_back({fmt::format("{}[{}]", place.path, i), &place.node->items[i]});
    }
  }
  return values;
}

std::set<std::string> changed_paths(const Values& before, const Values& after) {
  std::set<std::string> changed;
  for (const auto& [path, value] : before) {
    const auto found = after.find(path);
    if (found == after.end() || found->second != value) {
      changed.insert(path);
    }
  }
  for (const auto& [path, value] : after) {
    if (!before.contains(path)) {
      changed.insert(path);
    }
  }
  return changed;
}

bool may_change(std::string_view path) {
  for (const std::string_view prefix : kChangeable) {
    if (path.starts_with(prefix)) {
      return true;
    }
  }
  return false;
}

std::string some_of(const std::vector<std::string>& paths) {
  std::vector<std::string> named(
      paths.begin(),
      paths.begin() + static_cast<std::ptrdiff_t>(std::min(paths.size(), kMaxNamed)));
  const std::size_t more = paths.size() - named.size();
  return fmt::format(
      "{}{}", fmt::join(named, ", "), more > 0 ? fmt::format(" and {} more", more) : std::string());
}

}  // namespace

Reload reload_agent_config(const AgentConfig& running, const std::string& text) {
  try {
    AgentConfig wanted = parse_agent_config(text, running.file);
    const std::set<std::string> changed =
        changed_paths(values_of(running.text, running.file), values_of(text, running.file));
    std::vector<std::string> fixed;
    for (const std::string& path : changed) {
      if (!may_change(path)) {
        fixed.push_back(path);
      }
    }
    if (!fixed.empty()) {
      return {std::nullopt,
              true,
              fmt::format("reload refused, nothing changed: {} cannot change while the agent runs; "
                          "stop it and start it anew",
                          some_of(fixed))};
    }
    if (changed.empty()) {
      return {std::nullopt, false, "reload: the file says what is in force already"};
    }
    std::string message = fmt::format(
        "reload: changed {}", some_of(std::vector<std::string>(changed.begin(), changed.end())));
    return {std::move(wanted), false, std::move(message)};
  } catch (const ConfigError& error) {
    return {std::nullopt, true, fmt::format("reload refused, nothing changed: {}", error.what())};
  }
}

Reload reload_agent_config(const AgentConfig& running) {
  try {
    return reload_agent_config(running, read_config_file(running.file));
  } catch (const ConfigError& error) {
    return {std::nullopt, true, fmt::format("reload refused, nothing changed: {}", error.what())};
  }
}

}  // namespace bonescan
