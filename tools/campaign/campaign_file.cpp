#include "tools/campaign/campaign_file.h"

#include "scenarios/schema/config_file.h"
#include "scenarios/schema/key_table.h"
#include "scenarios/schema/yaml_edit.h"
#include "tools/campaign/file_readers.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>
#include <utility>

namespace bonescan {
namespace {

using campaign::claim_name;
using campaign::kMaxValues;
using campaign::kNameBytes;
using campaign::Presence;
using campaign::read_each;
using campaign::read_map;
using campaign::read_settings;

constexpr std::size_t kMaxSweeps = 32;
constexpr std::size_t kMaxRules = 1'000;
constexpr std::size_t kMaxSchemes = 64;
constexpr std::size_t kMaxDrawnKeys = 100;
constexpr std::int64_t kMaxRepeat = 1'000'000;
constexpr std::int64_t kMaxSeed = std::numeric_limits<std::int64_t>::max();

Sweep read_sweep(const YamlNode& node, std::string_view path) {
  Sweep sweep;
  const std::string key = campaign::key_of(node, path);
  sweep.name = key;
  read_map(node,
           path,
           {{"key", Presence::kOptional, [](const YamlNode&, std::string_view) {}},
            {"name",
             Presence::kOptional,
             [&](const YamlNode& item, std::string_view at) {
               sweep.name = read_text(item, at, kNameBytes);
             }},
            {"values", Presence::kRequired, [&](const YamlNode& list, std::string_view at) {
               sweep.values = campaign::read_values(list, at, key);
             }}});
  if (sweep.name.empty()) {
    raise(node.at, path, {"a key or a name", "neither", "say what is swept"});
  }
  return sweep;
}

/// The index of the one whose name is in the scalar `node`.
template <class Named>
std::size_t named_index(const std::vector<Named>& all,
                        std::string_view name,
                        const Position& at,
                        std::string_view path) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) {
      return i;
    }
    names.push_back(all[i].name);
  }
  const auto near = nearest_name(name, names);
  raise(at,
        path,
        {"one of " + join_names(names),
         in_quotes(name),
         near ? fmt::format("did you mean {}?", in_quotes(*near)) : "name what is swept"});
}

CellRule read_rule(const YamlNode& node, std::string_view path, const std::vector<Sweep>& sweeps) {
  CellRule rule;
  const auto conditions = [&](CellRule::Keep keep) {
    return [&rule, &sweeps, keep](const YamlNode& map, std::string_view at) {
      if (map.kind != YamlNode::Kind::kMap || map.entries.empty()) {
        raise(map.at, at, {"a map from sweeps to values", describe(map), "write {kind: crc}"});
      }
      rule.keep = keep;
      for (const YamlEntry& entry : map.entries) {
        const std::string own = join_path(at, entry.key);
        CellRule::Condition condition{named_index(sweeps, entry.key, entry.at, own), {}};
        const auto add = [&](const YamlNode& item, std::string_view item_path) {
          condition.values.push_back(named_index(sweeps[condition.sweep].values,
                                                 read_text(item, item_path, {1, 2'000}),
                                                 item.at,
                                                 item_path));
        };
        if (entry.value.kind == YamlNode::Kind::kList) {
          read_each(entry.value, own, {1, kMaxValues}, add);
        } else {
          add(entry.value, own);
        }
        rule.conditions.push_back(std::move(condition));
      }
    };
  };
  read_map(node,
           path,
           {{"only", Presence::kOptional, conditions(CellRule::Keep::kMatching)},
            {"not", Presence::kOptional, conditions(CellRule::Keep::kOthers)}});
  if (node.entries.size() != 1) {
    raise(node.at,
          path,
          {"one of only | not",
           fmt::format("{} of them", node.entries.size()),
           "make an entry of each rule"});
  }
  return rule;
}

std::string read_known(const YamlNode& node,
                       std::string_view path,
                       const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return names[read_choice(node, path, views)];
}

CampaignScheme read_scheme(const YamlNode& node, std::string_view path, const RiderNames& names) {
  CampaignScheme scheme;
  const auto read_rider = [&](const YamlNode& item, std::string_view at) {
    Rider rider;
    read_map(item,
             at,
             {{"scheme",
               Presence::kRequired,
               [&](const YamlNode& v, std::string_view p) {
                 rider.scheme = read_text(v, p, kNameBytes);
               }},
              {"detector",
               Presence::kRequired,
               [&](const YamlNode& v, std::string_view p) {
                 rider.detector = read_known(v, p, names.detectors);
               }},
              {"localizer", Presence::kOptional, [&](const YamlNode& v, std::string_view p) {
                 rider.localizer = read_known(v, p, names.localizers);
               }}});
    scheme.riders.push_back(std::move(rider));
  };
  read_map(
      node,
      path,
      {{"name",
        Presence::kRequired,
        [&](const YamlNode& v, std::string_view p) { scheme.name = read_text(v, p, kNameBytes); }},
       {"set",
        Presence::kOptional,
        [&](const YamlNode& v, std::string_view p) { scheme.settings = read_settings(v, p); }},
       {"riders", Presence::kOptional, [&](const YamlNode& v, std::string_view p) {
          read_each(v, p, {0, kMaxSchemes}, read_rider);
        }}});
  return scheme;
}

void read_seeds(const YamlNode& node, std::string_view path, CampaignSeeds& seeds) {
  static const Choices<CampaignParity> kParities = {{"all", CampaignParity::kAll},
                                                    {"odd", CampaignParity::kOdd},
                                                    {"even", CampaignParity::kEven}};
  static const Choices<SeedSpread> kSpreads = {{"every-cell", SeedSpread::kEveryCell},
                                               {"in-turn", SeedSpread::kInTurn}};
  KeyTable<CampaignSeeds> table;
  table.count("from", {0, kMaxSeed}, field(&CampaignSeeds::from), "First seed.");
  table.count("to", {0, kMaxSeed}, field(&CampaignSeeds::to), "Last seed.");
  table.choice("parity", kParities, field(&CampaignSeeds::parity), "Which of them.");
  table.choice("spread", kSpreads, field(&CampaignSeeds::spread), "Who runs which.");
  table.read(node, path, seeds);
  if (seeds.to && *seeds.to < seeds.from) {
    raise(node.find("to")->value.at,
          join_path(path, "to"),
          {fmt::format("at least {}", seeds.from), std::to_string(*seeds.to), "it is included"});
  }
}

void read_sweeps(const YamlNode& list, std::string_view path, std::vector<Sweep>& sweeps) {
  std::set<std::string> taken;
  read_each(list, path, {0, kMaxSweeps}, [&](const YamlNode& item, std::string_view p) {
    sweeps.push_back(read_sweep(item, p));
    claim_name(taken, sweeps.back().name, item.at, p);
  });
}

void read_schemes(const YamlNode& list,
                  std::string_view path,
                  const RiderNames& riders,
                  std::vector<CampaignScheme>& schemes) {
  std::set<std::string> taken;
  read_each(list, path, {1, kMaxSchemes}, [&](const YamlNode& item, std::string_view p) {
    schemes.push_back(read_scheme(item, p, riders));
    claim_name(taken, schemes.back().name, item.at, p);
    for (const Rider& rider : schemes.back().riders) {
      claim_name(taken, rider.scheme, item.at, join_path(p, "riders"));
    }
  });
}

void read_draw(const YamlNode& node, std::string_view path, CampaignDraw& draw) {
  std::set<std::string> taken;
  read_map(node,
           path,
           {{"count",
             Presence::kOptional,
             [&](const YamlNode& v, std::string_view p) {
               draw.count = static_cast<std::uint32_t>(read_count(v, p, {1, 100'000}));
             }},
            {"keys", Presence::kRequired, [&](const YamlNode& list, std::string_view p) {
               read_each(
                   list, p, {1, kMaxDrawnKeys}, [&](const YamlNode& item, std::string_view at) {
                     draw.keys.push_back(campaign::read_drawn_key(item, at));
                     claim_name(taken, draw.keys.back().name, item.at, at);
                   });
             }}});
}

void check_repeat(const CampaignFile& campaign, const YamlNode& root) {
  if (campaign.repeat && campaign.seeds.to) {
    raise(locate(root, "seeds.to"),
          "seeds.to",
          {"none beside repeat", "both", "seeds of a cell are counted either way"});
  }
}

}  // namespace

CampaignFile parse_campaign_file(std::string_view text,
                                 const std::string& file,
                                 const RiderNames& riders) {
  const YamlNode root = parse_yaml_tree(text, std::make_shared<const std::string>(file));
  CampaignFile campaign;
  campaign.file = file;
  const YamlNode* rules = nullptr;
  const auto text_into = [](std::string& out, Range<std::size_t> range) {
    return [&out, range](const YamlNode& v, std::string_view p) { out = read_text(v, p, range); };
  };
  read_map(
      root,
      "",
      {{"name", Presence::kRequired, text_into(campaign.name, {1, 100})},
       {"description", Presence::kOptional, text_into(campaign.description, {1, 10'000})},
       {"scenario",
        Presence::kRequired,
        [&](const YamlNode& v, std::string_view p) {
          campaign.scenario_at = v.at;
          const std::string name = read_text(v, p, {1, 1'000});
          campaign.scenario_file = (std::filesystem::path(file).parent_path() / name).string();
        }},
       {"set",
        Presence::kOptional,
        [&](const YamlNode& v, std::string_view p) { campaign.settings = read_settings(v, p); }},
       {"sweep",
        Presence::kOptional,
        [&](const YamlNode& v, std::string_view p) { read_sweeps(v, p, campaign.sweeps); }},
       // Rules name sweeps, which may stand below them.
       {"constraint",
        Presence::kOptional,
        [&](const YamlNode& v, std::string_view) { rules = &v; }},
       {"draw",
        Presence::kOptional,
        [&](const YamlNode& v, std::string_view p) { read_draw(v, p, campaign.draw.emplace()); }},
       {"repeat",
        Presence::kOptional,
        [&](const YamlNode& v, std::string_view p) {
          campaign.repeat = static_cast<std::uint32_t>(read_count(v, p, {1, kMaxRepeat}));
        }},
       {"seeds",
        Presence::kOptional,
        [&](const YamlNode& v, std::string_view p) { read_seeds(v, p, campaign.seeds); }},
       {"schemes", Presence::kRequired, [&](const YamlNode& v, std::string_view p) {
          read_schemes(v, p, riders, campaign.schemes);
        }}});
  if (rules != nullptr) {
    read_each(*rules, "constraint", {0, kMaxRules}, [&](const YamlNode& item, std::string_view p) {
      campaign.rules.push_back(read_rule(item, p, campaign.sweeps));
    });
  }
  check_repeat(campaign, root);
  return campaign;
}

CampaignFile load_campaign_file(const std::string& file, const RiderNames& riders) {
  return parse_campaign_file(read_config_file(file), file, riders);
}

}  // namespace bonescan
