// YAML text as a tree that knows where every key and value stands.
//
// Built on yaml-cpp's event parser instead of YAML::Node, which forgets the positions of keys, lets
// a repeated key win silently, and recurses on its input.  Scenarios need little of YAML, and what
// they do not need is an error: anchors, aliases, tags, directives, several documents.
// Invariants: 1. the keys of a map are unique; 2. nesting is at most kMaxYamlDepth.
// Thread-compatible.
#pragma once

#include "scenarios/schema/source_error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

constexpr std::size_t kMaxYamlDepth = 64;
constexpr std::size_t kMaxYamlValues = 50'000;  ///< keep a crafted megabyte under a second

struct YamlEntry;

struct YamlNode {
  enum class Kind : std::uint8_t {
    kNull,
    kScalar,
    kList,
    kMap
  };

  Kind kind = Kind::kNull;
  Position at;
  std::string text;                ///< kScalar
  std::vector<YamlEntry> entries;  ///< kMap, in the order of the file
  std::vector<YamlNode> items;     ///< kList

  /// nullptr if this is no map, or has no such key.
  const YamlEntry* find(std::string_view key) const;
  YamlEntry* find(std::string_view key);
};

struct YamlEntry {
  std::string key;
  Position at;  ///< of the key
  YamlNode value;
};

YamlNode make_node(YamlNode::Kind kind, Position at, std::string text = {});

/// What a value is, for messages: "'30'", "a map", "a list", "nothing".
std::string describe(const YamlNode& node);

/// A whole file, whose root must be a map.
/// @throws ConfigError
YamlNode parse_yaml_tree(std::string_view text, const std::shared_ptr<const std::string>& source);

/// One value of any kind, as in "[1, 2]".
/// @throws ConfigError
YamlNode parse_yaml_value(std::string_view text, const std::shared_ptr<const std::string>& source);

}  // namespace bonescan
