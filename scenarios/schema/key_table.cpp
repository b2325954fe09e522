#include "scenarios/schema/key_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace bonescan {
namespace {

const std::string& scalar_text(const YamlNode& node, std::string_view path, std::string_view type) {
  if (node.kind != YamlNode::Kind::kScalar) {
    const bool absent = node.kind == YamlNode::Kind::kNull;
    raise(node.at,
          path,
          {std::string(type),
           describe(node),
           absent ? "give the key a value, or delete it to get the default"
                  : "this key takes a single value"});
  }
  return node.text;
}

/// One value with a unit, or a plain one: read, then held against its range.
template <class V, class Parse, class Format>
V read_quantity(const YamlNode& node,
                std::string_view path,
                std::string_view type,
                const Range<V>& range,
                std::pair<Parse, Format> text_form) {
  const auto& [parse, format] = text_form;
  const std::string expected =
      fmt::format("a {} from {} to {}", type, format(range.low), format(range.high));
  const auto value = parse(scalar_text(node, path, expected));
  if (!value) {
    raise(node.at, path, {expected, in_quotes(node.text), value.error().detail});
  }
  if (*value < range.low || *value > range.high) {
    raise(node.at,
          path,
          {expected,
           in_quotes(node.text),
           *value < range.low ? fmt::format("the least is {}", format(range.low))
                              : fmt::format("the most is {}", format(range.high))});
  }
  return *value;
}

/// Levenshtein's distance: how many letters to insert, delete or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// A place in the table while a map is walked: "overlay.ovs." and the map found there.
struct Section {
  std::string prefix;
  const YamlNode* map;
};

/// The names that may stand in a section, in the order of the table.
std::vector<std::string_view> names_in(std::string_view prefix,
                                       const std::vector<SchemaKey>& keys) {
  std::vector<std::string_view> names;
  for (const SchemaKey& key : keys) {
    if (std::string_view(key.path).starts_with(prefix)) {
      const std::string_view rest = std::string_view(key.path).substr(prefix.size());
      const std::string_view name = rest.substr(0, rest.find('.'));
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
    }
  }
  return names;
}

[[noreturn]] void raise_unknown_key(const YamlEntry& entry,
                                    std::string_view path,
                                    const std::vector<std::string_view>& names) {
  const auto nearest = nearest_name(entry.key, names);
  std::string hint = nearest ? fmt::format("did you mean '{}'?", *nearest)
                             : fmt::format("known here: {}", fmt::join(names, ", "));
  if (entry.key.ends_with(')')) {
    hint = "inside { } a comma ends a value: put link(...) in quotes";
  }
  raise(entry.at, path, {"a known key", in_quotes(entry.key), hint});
}

void require_map(const YamlNode& node, std::string_view path, std::string_view example) {
  if (node.kind != YamlNode::Kind::kMap) {
    const bool absent = node.kind == YamlNode::Kind::kNull;
    raise(node.at,
          path,
          {"a map of keys",
           describe(node),
           absent ? "give it keys, or delete it to get the defaults"
                  : fmt::format("write it as {{{}: ...}}", example)});
  }
}

void check_required(const YamlNode& map,
                    std::string_view base,
                    const std::vector<SchemaKey>& keys,
                    const std::set<std::size_t>& seen) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].fallback == kRequired && !seen.contains(i)) {
      raise(map.at,
            join_path(base, keys[i].path),
            {"this key, which has no default", "nothing", "add it: " + keys[i].meaning});
    }
  }
}

}  // namespace

std::int64_t read_count(const YamlNode& node, std::string_view path, Range<std::int64_t> range) {
  const auto format = [](std::int64_t value) { return std::to_string(value); };
  return read_quantity(node, path, "whole number", range, std::pair(&parse_count, format));
}

double read_number(const YamlNode& node, std::string_view path, Range<double> range) {
  return read_quantity(node, path, "number", range, std::pair(&parse_number, &format_number));
}

double read_ratio(const YamlNode& node, std::string_view path, Range<double> range) {
  return read_quantity(node, path, "ratio", range, std::pair(&parse_ratio, &format_number));
}

Duration read_duration(const YamlNode& node, std::string_view path, Range<Duration> range) {
  return read_quantity(node, path, "duration", range, std::pair(&parse_duration, &format_duration));
}

BitsPerSecond read_rate(const YamlNode& node, std::string_view path, Range<BitsPerSecond> range) {
  return read_quantity(node, path, "data rate", range, std::pair(&parse_rate, &format_rate));
}

Bytes read_size(const YamlNode& node, std::string_view path, Range<Bytes> range) {
  return read_quantity(node, path, "size", range, std::pair(&parse_size, &format_size));
}

std::string read_text(const YamlNode& node, std::string_view path, Range<std::size_t> range) {
  const std::string expected = fmt::format("text of {} to {} bytes", range.low, range.high);
  const std::string& text = scalar_text(node, path, expected);
  if (text.size() < range.low || text.size() > range.high) {
    raise(node.at,
          path,
          {expected, fmt::format("{} bytes", text.size()), "write something short and telling"});
  }
  return text;
}

std::size_t read_choice(const YamlNode& node,
                        std::string_view path,
                        const std::vector<std::string_view>& names) {
  const std::string expected = "one of " + join_names(names);
  const std::string& text = scalar_text(node, path, expected);
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    const auto nearest = nearest_name(text, names);
    raise(node.at,
          path,
          {expected,
           in_quotes(text),
           nearest ? fmt::format("did you mean '{}'?", *nearest) : "take one of these words"});
  }
  return static_cast<std::size_t>(found - names.begin());
}

const std::vector<YamlNode>& read_list(const YamlNode& node,
                                       std::string_view path,
                                       Range<std::size_t> range) {
  const std::string expected = fmt::format("a list of {} to {} entries", range.low, range.high);
  if (node.kind != YamlNode::Kind::kList) {
    raise(node.at,
          path,
          {expected, describe(node), "begin each entry with '- ', or write [] for none"});
  }
  if (node.items.size() < range.low || node.items.size() > range.high) {
    raise(node.at,
          path,
          {expected,
           std::to_string(node.items.size()),
           node.items.empty() ? "add an entry" : "split the scenario"});
  }
  return node.items;
}

std::string join_names(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, " | "));
}

std::optional<std::string> nearest_name(std::string_view text,
                                        const std::vector<std::string_view>& names) {
  constexpr std::size_t kMaxLength = 64;
  if (text.size() > kMaxLength) {
    return std::nullopt;
  }
  const std::size_t limit = std::max<std::size_t>(2, text.size() / 3);
  std::size_t best = limit + 1;
  std::optional<std::string> nearest;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(text, name);
    // A name that shares no letter with a short text is not near it.
    if (distance < best && distance < name.size()) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string join_path(std::string_view base, std::string_view key) {
  return base.empty() ? std::string(key) : fmt::format("{}.{}", base, key);
}

std::vector<KeyMatch> match_keys(const YamlNode& map,
                                 std::string_view base,
                                 const std::vector<SchemaKey>& keys) {
  std::vector<KeyMatch> matches;
  std::set<std::size_t> seen;
  std::vector<Section> sections = {{"", &map}};
  while (!sections.empty()) {
    const Section section = std::move(sections.back());
    sections.pop_back();
    const std::vector<std::string_view> names = names_in(section.prefix, keys);
    const std::string_view section_name =
        std::string_view(section.prefix)
            .substr(0, section.prefix.size() - (section.prefix.empty() ? 0 : 1));
    require_map(*section.map,
                section_name.empty() ? std::string(base) : join_path(base, section_name),
                names.front());
    for (const YamlEntry& entry : section.map->entries) {
      const std::string name = section.prefix + entry.key;
      const std::string path = join_path(base, name);
      if (std::ranges::find(names, entry.key) == names.end()) {
        raise_unknown_key(entry, path, names);
      }
      const auto row = std::ranges::find(keys, name, &SchemaKey::path);
      if (row == keys.end()) {
        sections.push_back({name + ".", &entry.value});
        continue;
      }
      const auto index = static_cast<std::size_t>(row - keys.begin());
      seen.insert(index);
      matches.push_back({index, path, &entry.value});
    }
  }
  check_required(map, base, keys, seen);
  return matches;
}

}  // namespace bonescan
