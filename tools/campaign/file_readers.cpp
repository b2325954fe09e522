#include "tools/campaign/file_readers.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

namespace bonescan::campaign {
namespace {

constexpr std::size_t kMaxSettings = 1'000;
constexpr std::size_t kMaxSettingBytes = 20'000;

struct End {
  double value = 0.0;
  std::string unit;
};

/// "2.5ms" as its number and what follows it.
End read_end(const YamlNode& node, std::string_view path) {
  const std::string text = read_text(node, path, {1, 100});
  End end;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), end.value);
  if (status != std::errc() || !std::isfinite(end.value)) {
    raise(node.at, path, {"a number, with a unit if it has one", in_quotes(text), "as in 2.5ms"});
  }
  end.unit = text.substr(static_cast<std::size_t>(stop - text.data()));
  return end;
}

void read_ends(const YamlNode& node, std::string_view path, DrawnKey& drawn) {
  const auto& items = read_list(node, path, {2, 2});
  const End low = read_end(items[0], std::string(path) + "[0]");
  const End high = read_end(items[1], std::string(path) + "[1]");
  if (low.unit != high.unit) {
    raise(items[1].at,
          path,
          {fmt::format("both ends in one unit, {}", in_quotes(low.unit)),
           in_quotes(high.unit),
           "write [500us, 2000us] for [500us, 2ms]"});
  }
  const bool is_log = drawn.law == DrawnKey::Law::kLogUniform;
  if (high.value <= low.value || (is_log && low.value <= 0.0)) {
    raise(items[0].at,
          path,
          {is_log ? "two rising numbers above 0" : "two rising numbers",
           fmt::format("{} and {}", low.value, high.value),
           "the first is the least that may be drawn"});
  }
  drawn.low = low.value;
  drawn.high = high.value;
  drawn.unit = low.unit;
}

SweepValue read_value(const YamlNode& node, std::string_view path, const std::string& key) {
  if (node.kind != YamlNode::Kind::kMap) {
    SweepValue value{read_text(node, path, {1, 2'000}), {}};
    if (key.empty()) {
      raise(node.at,
            path,
            {"a map with a name and what it sets",
             in_quotes(value.name),
             "give the sweep a key: that plain values are for"});
    }
    value.settings.push_back({key + "=" + value.name, node.at, std::string(path)});
    return value;
  }
  SweepValue value;
  read_map(node,
           path,
           {{"name",
             Presence::kRequired,
             [&](const YamlNode& item, std::string_view at) {
               value.name = read_text(item, at, kNameBytes);
             }},
            {"set", Presence::kOptional, [&](const YamlNode& item, std::string_view at) {
               value.settings = read_settings(item, at);
             }}});
  return value;
}

}  // namespace

void read_map(const YamlNode& map, std::string_view base, const std::vector<MapKey>& keys) {
  std::vector<SchemaKey> rows;
  for (const MapKey& key : keys) {
    const bool is_required = key.presence == Presence::kRequired;
    rows.push_back({std::string(key.name), "", std::string(is_required ? kRequired : ""), "", ""});
  }
  for (const KeyMatch& match : match_keys(map, base, rows)) {
    keys[match.index].read(*match.value, match.path);
  }
}

void read_each(const YamlNode& list,
               std::string_view path,
               Range<std::size_t> count,
               const NodeReader& read) {
  const std::vector<YamlNode>& items = read_list(list, path, count);
  for (std::size_t i = 0; i < items.size(); ++i) {
    read(items[i], fmt::format("{}[{}]", path, i));
  }
}

std::vector<CampaignSetting> read_settings(const YamlNode& list, std::string_view path) {
  std::vector<CampaignSetting> settings;
  read_each(list, path, {0, kMaxSettings}, [&](const YamlNode& item, std::string_view at) {
    std::string text = read_text(item, at, {1, kMaxSettingBytes});
    if (text.starts_with("seed=")) {
      raise(item.at, at, {"a setting of another key", "seed", "seeds are those of `seeds`"});
    }
    settings.push_back({std::move(text), item.at, std::string(at)});
  });
  return settings;
}

/// @throws ConfigError if `name` is taken
void claim_name(std::set<std::string>& taken,
                const std::string& name,
                const Position& at,
                std::string_view path) {
  if (!taken.insert(name).second) {
    raise(at, path, {"a name of its own", in_quotes(name), "it is taken already; choose another"});
  }
}

std::string key_of(const YamlNode& map, std::string_view path) {
  const YamlEntry* entry = map.find("key");
  return entry == nullptr ? std::string()
                          : read_text(entry->value, join_path(path, "key"), kNameBytes);
}

std::vector<SweepValue> read_values(const YamlNode& list,
                                    std::string_view path,
                                    const std::string& key) {
  std::vector<SweepValue> values;
  std::set<std::string> taken;
  read_each(list, path, {1, kMaxValues}, [&](const YamlNode& item, std::string_view at) {
    values.push_back(read_value(item, at, key));
    claim_name(taken, values.back().name, item.at, at);
  });
  return values;
}

DrawnKey read_drawn_key(const YamlNode& map, std::string_view path) {
  DrawnKey drawn;
  drawn.at = map.at;
  drawn.path = path;
  std::size_t laws = 0;
  const auto ends = [&](DrawnKey::Law law) {
    return [&drawn, &laws, law](const YamlNode& node, std::string_view at) {
      ++laws;
      drawn.law = law;
      read_ends(node, at, drawn);
    };
  };
  drawn.key = key_of(map, path);
  drawn.name = drawn.key;
  read_map(map,
           path,
           {{"key", Presence::kOptional, [](const YamlNode&, std::string_view) {}},
            {"name",
             Presence::kOptional,
             [&](const YamlNode& node, std::string_view at) {
               drawn.name = read_text(node, at, kNameBytes);
             }},
            {"uniform", Presence::kOptional, ends(DrawnKey::Law::kUniform)},
            {"log-uniform", Presence::kOptional, ends(DrawnKey::Law::kLogUniform)},
            {"integer", Presence::kOptional, ends(DrawnKey::Law::kInteger)},
            {"choice", Presence::kOptional, [&](const YamlNode& list, std::string_view at) {
               ++laws;
               drawn.law = DrawnKey::Law::kChoice;
               drawn.choices = read_values(list, at, drawn.key);
             }}});
  if (laws != 1) {
    raise(map.at,
          path,
          {"one of uniform | log-uniform | integer | choice",
           fmt::format("{} of them", laws),
           "a key is drawn in one way"});
  }
  if (drawn.name.empty() || (drawn.key.empty() && drawn.law != DrawnKey::Law::kChoice)) {
    raise(map.at, path, {"a key, or a name and a choice", "neither", "say what is drawn"});
  }
  return drawn;
}

}  // namespace bonescan::campaign
