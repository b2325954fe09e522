#include "scenarios/schema/yaml_edit.h"

#include "scenarios/schema/yaml_prescan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

/// One step of a path: into a key of a map, or into an entry of a list.
struct Step {
  std::string_view key;
  std::optional<std::size_t> index;
};

/// "a.b[0].c" as steps; nullopt if it is not of this form.
std::optional<std::vector<Step>> split_path(std::string_view path) {
  std::vector<Step> steps;
  while (!path.empty()) {
    if (path.starts_with('[')) {
      std::size_t index = 0;
      const auto [stop, status] =
          std::from_chars(path.data() + 1, path.data() + path.size(), index);
      const auto length = static_cast<std::size_t>(stop - path.data());
      if (steps.empty() || status != std::errc() || !path.substr(length).starts_with(']')) {
        return std::nullopt;
      }
      steps.push_back({{}, index});
      path.remove_prefix(length + 1);
    } else {
      if (!steps.empty()) {
        path.remove_prefix(1);  // the dot
      }
      const std::size_t length = std::min(path.find_first_of(".["), path.size());
      if (length == 0) {
        return std::nullopt;
      }
      steps.push_back({path.substr(0, length), std::nullopt});
      path.remove_prefix(length);
    }
    if (!path.empty() && !path.starts_with('.') && !path.starts_with('[')) {
      return std::nullopt;
    }
  }
  return steps.empty() ? std::nullopt : std::optional(steps);
}

YamlNode* step_into_list(YamlNode& node,
                         std::size_t index,
                         const Position& at,
                         std::string_view path) {
  if (node.kind != YamlNode::Kind::kList) {
    raise(at, path, {"the path of a list before [ ]", describe(node), "leave the [ ] out"});
  }
  if (index >= node.items.size()) {
    raise(at,
          path,
          {fmt::format("an index below {}", node.items.size()),
           std::to_string(index),
           "entries are counted from 0, in the order of the file"});
  }
  return &node.items[index];
}

YamlNode* step_into_map(YamlNode& node,
                        std::string_view key,
                        const Position& at,
                        std::string_view path) {
  if (node.kind == YamlNode::Kind::kNull) {
    node.kind = YamlNode::Kind::kMap;
    node.at = at;
  }
  if (node.kind != YamlNode::Kind::kMap) {
    const bool is_list = node.kind == YamlNode::Kind::kList;
    raise(at,
          path,
          {fmt::format("a section above {}", in_quotes(key)),
           describe(node),
           is_list ? "say which entry, as in faults[0].at" : "this key has no keys below it"});
  }
  if (YamlEntry* entry = node.find(key)) {
    return &entry->value;
  }
  node.entries.push_back({.key = std::string(key), .at = at, .value = {}});
  return &node.entries.back().value;
}

void move_to(const Position& at, YamlNode& node) {
  // CORRECTNESS: the parser bounds the depth of a tree, so this recursion is bounded too.
  node.at = at;
  for (YamlEntry& entry : node.entries) {
    entry.at = at;
    move_to(at, entry.value);
  }
  for (YamlNode& item : node.items) {
    move_to(at, item);
  }
}

YamlNode setting_value(std::string_view text, const Position& at) {
  check_utf8_text(text, at.source);
  YamlNode value = make_node(YamlNode::Kind::kScalar, at, std::string(text));
  if (text.empty()) {
    value.kind = YamlNode::Kind::kNull;
  } else if (std::string_view("[{\"'").find(text.front()) != std::string_view::npos) {
    value = parse_yaml_value(text, at.source);
    move_to(at, value);
  }
  return value;
}

/// How far a path leads: its node, and the place of the deepest node on the way.
struct Place {
  const YamlNode* node;
  Position at;
};

Place walk(const YamlNode& root, std::string_view path) {
  Place place{&root, root.at};
  for (const Step& step : split_path(path).value_or(std::vector<Step>{})) {
    const YamlNode& node = *place.node;
    if (step.index) {
      place.node = *step.index < node.items.size() ? &node.items[*step.index] : nullptr;
    } else {
      const YamlEntry* entry = node.find(step.key);
      place.node = entry == nullptr ? nullptr : &entry->value;
    }
    if (place.node == nullptr) {
      break;
    }
    place.at = place.node->at;
  }
  return place;
}

/// Plain if it cannot be taken for anything else, else in double quotes.
std::string emit_scalar(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%-";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos &&
                     text.front() != '%' && text.front() != '-' && text.front() != '.';
  if (plain && text != "null" && text != "Null" && text != "NULL") {
    return std::string(text);
  }
  std::string result = "\"";
  for (const char c : text) {
    switch (c) {
      case '\n':
        result += "\\n";
        break;
      case '\r':
        result += "\\r";
        break;
      case '\t':
        result += "\\t";
        break;
      case '"':
      case '\\':
        result += '\\';
        [[fallthrough]];
      default:
        result += c;
    }
  }
  return result + "\"";
}

/// Writes what follows "key:" or "-", its line end included.
void emit_value(const YamlNode& node, std::size_t indent, std::string& out) {
  const std::string blanks(indent, ' ');
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      out += " ~\n";
      return;
    case YamlNode::Kind::kScalar:
      out += " " + emit_scalar(node.text) + "\n";
      return;
    case YamlNode::Kind::kList:
      out += node.items.empty() ? " []\n" : "\n";
      for (const YamlNode& item : node.items) {
        out += blanks + "-";
        emit_value(item, indent + 2, out);
      }
      return;
    case YamlNode::Kind::kMap:
      out += node.entries.empty() ? " {}\n" : "\n";
      for (const YamlEntry& entry : node.entries) {
        out += blanks + emit_scalar(entry.key) + ":";
        emit_value(entry.value, indent + 2, out);
      }
      return;
  }
}

}  // namespace

void apply_setting(YamlNode& root, std::string_view setting) {
  const Position at{std::make_shared<const std::string>("--set " + std::string(setting)), 0, 0};
  const std::size_t equals = setting.find('=');
  const std::string_view path = setting.substr(0, equals);
  const auto steps = split_path(path);
  if (equals == std::string_view::npos || !steps || steps->size() > kMaxYamlDepth) {
    raise(at,
          path,
          {"path.to.key=value",
           in_quotes(setting),
           "write for example --set duration=10min or --set faults[0].at=5min"});
  }
  YamlNode* node = &root;
  for (const Step& step : *steps) {
    node = step.index ? step_into_list(*node, *step.index, at, path)
                      : step_into_map(*node, step.key, at, path);
  }
  *node = setting_value(setting.substr(equals + 1), at);
}

void merge_maps(YamlNode& base, const YamlNode& over) {
  // CORRECTNESS: bounded by the depth of the trees, which the parser bounds.
  for (const YamlEntry& entry : over.entries) {
    YamlEntry* known = base.find(entry.key);
    if (known == nullptr) {
      base.entries.push_back(entry);
    } else if (known->value.kind == YamlNode::Kind::kMap &&
               entry.value.kind == YamlNode::Kind::kMap) {
      merge_maps(known->value, entry.value);
    } else {
      *known = entry;
    }
  }
}

Position locate(const YamlNode& root, std::string_view path) {
  return walk(root, path).at;
}

const YamlNode* find_path(const YamlNode& root, std::string_view path) {
  return walk(root, path).node;
}

std::string emit_yaml(const YamlNode& root) {
  std::string out;
  emit_value(root, 0, out);
  out.erase(0, out.find_first_not_of('\n'));
  return out;
}

}  // namespace bonescan
