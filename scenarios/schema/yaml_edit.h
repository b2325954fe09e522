// Changes to a tree before it is checked, and finding places in it afterwards.
#pragma once

#include "scenarios/schema/yaml_tree.h"

#include <string>
#include <string_view>

namespace bonescan {

/// Applies "path.to.key=value".  Lists are indexed from 0, as in faults[0].at=5min; sections on the
/// way are made if they are not there.  A value that begins with [ or { or a quote is YAML.
/// @throws ConfigError that names the setting
void apply_setting(YamlNode& root, std::string_view setting);

/// Values of `over` win; maps are merged key by key.
void merge_maps(YamlNode& base, const YamlNode& over);

/// Where a path stands; if it does not, where the deepest section on its way does.
Position locate(const YamlNode& root, std::string_view path);

/// The value at a path, nullptr if there is none.
const YamlNode* find_path(const YamlNode& root, std::string_view path);

/// The tree as YAML again, without comments; parsing it gives an equal tree.
std::string emit_yaml(const YamlNode& root);

}  // namespace bonescan
