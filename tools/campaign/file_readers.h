// Reading the parts of a campaign file that are maps and lists of a form of their own.
//
// KeyTable fits objects whose fields are single values; a campaign is mostly lists, of which every
// entry must remember where it stands.  The same rules hold: unknown keys are errors, every error
// has a place.
#pragma once

#include "scenarios/schema/key_table.h"
#include "tools/campaign/campaign_file.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan::campaign {

constexpr std::size_t kMaxValues = 10'000;  ///< of one list
constexpr Range<std::size_t> kNameBytes = {1, 200};

using NodeReader = std::function<void(const YamlNode& node, std::string_view path)>;

enum class Presence : std::uint8_t {
  kOptional,
  kRequired
};

struct MapKey {
  std::string_view name;
  Presence presence = Presence::kOptional;
  NodeReader read;
};

/// @throws ConfigError for another key, a required one that is missing, or no map
void read_map(const YamlNode& map, std::string_view base, const std::vector<MapKey>& keys);

/// @throws ConfigError if this is no list of so many
void read_each(const YamlNode& list,
               std::string_view path,
               Range<std::size_t> count,
               const NodeReader& read);

/// A list of "path=value".
std::vector<CampaignSetting> read_settings(const YamlNode& list, std::string_view path);

/// The `key` of a sweep or a drawn parameter, empty if it has none.
std::string key_of(const YamlNode& map, std::string_view path);

/// Values of unlike names: plain ones are for `key`, maps {name, set} say what they set.
std::vector<SweepValue> read_values(const YamlNode& list,
                                    std::string_view path,
                                    const std::string& key);

/// @throws ConfigError if `name` is taken
void claim_name(std::set<std::string>& taken,
                const std::string& name,
                const Position& at,
                std::string_view path);

/// {key: path, uniform: [1%, 5%]}, or log-uniform, integer, or choice.
DrawnKey read_drawn_key(const YamlNode& map, std::string_view path);

}  // namespace bonescan::campaign
