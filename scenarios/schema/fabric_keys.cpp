#include "scenarios/schema/scenario_keys.h"

#include <chrono>
#include <limits>

namespace bonescan {
namespace {

using std::chrono::minutes;

constexpr Range<BitsPerSecond> kOwnRate{BitsPerSecond(0), BitsPerSecond(3'200'000'000'000)};
constexpr Range<Duration> kReaction{Duration::zero(), minutes(10)};

auto fabric(auto member) {
  return field(&Scenario::fabric, member);
}

void add_shape(ScenarioTable& table) {
  Choices<FabricPreset> presets;
  for (const FabricPreset preset : {FabricPreset::kRailOptimized,
                                    FabricPreset::kRailOnly,
                                    FabricPreset::kHpn,
                                    FabricPreset::kThreeTier,
                                    FabricPreset::kGraph}) {
    presets.emplace_back(to_string(preset), preset);
  }
  table.choice(
      "fabric.preset", presets, fabric(&FabricOptions::preset), "Shape of the network, see above.");
  table
      .text("fabric.file",
            {1, 1000},
            field(&ScenarioDraft::topology_file),
            "A topology file (TOPOLOGY.md), relative to this one, whose cables are those of a "
            "preset: it says what the keys of the shape would. Keys beside it win. With `preset: "
            "graph` its cables may be any.")
      .otherwise("none");
  table.list("fabric.links",
             {1, 10'000},
             link_table(),
             field(&ScenarioDraft::links),
             "graph: the cables, as in a topology file.");
  table.count("fabric.segments",
              {1, 256},
              fabric(&FabricOptions::segments),
              "Segments: groups of hosts that share their ToRs. hpn: 15 unless given.");
  table.count("fabric.hosts_per_segment",
              {1, 1024},
              fabric(&FabricOptions::hosts_per_segment),
              "Hosts (servers) in each segment. hpn: 128 unless given.");
  table.count("fabric.spare_hosts",
              {0, 64},
              fabric(&FabricOptions::spare_hosts_per_segment),
              "Further hosts in each segment, cabled but without jobs. hpn: 8 unless given.");
  table.count("fabric.spare_tor_ports",
              {0, 512},
              fabric(&FabricOptions::spare_tor_ports),
              "Ports of a ToR towards hosts to which nothing is cabled.");
  table.count(
      "fabric.rails",
      {1, 16},
      fabric(&FabricOptions::rails),
      "RNICs, and GPUs, of each host. RNIC r of every host is cabled to the ToR of rail r.");
  table.count("fabric.aggregation_switches",
              {1, 128},
              fabric(&FabricOptions::aggregation_switches),
              "Aggregation switches: of all, of each rail (rail-only), plane (hpn, 60 unless "
              "given) or pod (three-tier). Every ToR has one cable to each of its own.");
  table.count("fabric.segments_per_pod",
              {1, 256},
              fabric(&FabricOptions::segments_per_pod),
              "three-tier: segments of one pod.");
  table.count("fabric.core_switches",
              {1, 8192},
              fabric(&FabricOptions::core_switches),
              "three-tier: core switches, a multiple of `fabric.aggregation_switches`.");
}

void add_tier(ScenarioTable& table,
              const std::string& name,
              TierOptions FabricOptions::*tier,
              const std::string& cables) {
  table.rate("fabric." + name + ".rate",
             kOwnRate,
             field(&Scenario::fabric, tier, &TierOptions::rate),
             "Data rate of " + cables + " cables; 0bps stands for `fabric.link.rate`.");
  table.choice<bool>("fabric." + name + ".llr",
                     {{"no", false}, {"yes", true}},
                     field(&Scenario::fabric, tier, &TierOptions::llr),
                     "Whether " + cables + " cables have link-level retry, see link.ber.");
}

void add_links(ScenarioTable& table) {
  table.rate("fabric.link.rate",
             {BitsPerSecond(1'000'000'000), BitsPerSecond(3'200'000'000'000)},
             fabric(&FabricOptions::link_rate),
             "Data rate of every cable that has none of its own.");
  add_tier(table, "access", &FabricOptions::access, "RNIC-ToR");
  add_tier(table, "uplink", &FabricOptions::fabric, "ToR-aggregation");
  add_tier(table, "core", &FabricOptions::core, "aggregation-core");
  table.duration("fabric.convergence",
                 kReaction,
                 fabric(&FabricOptions::convergence),
                 "From a fabric port going down until ECMP on both ends avoids it.");
  table.count("fabric.bond.members",
              {1, 4},
              fabric(&FabricOptions::bond_members),
              "Ports of each RNIC in one bond, all to one ToR. hpn has two of its own.");
  table.duration("fabric.bond.failover",
                 kReaction,
                 fabric(&FabricOptions::bond_failover),
                 "From a bond member going down until its host sends by another.");
  table.duration("fabric.bond.route_withdrawal",
                 kReaction,
                 fabric(&FabricOptions::route_withdrawal),
                 "From a bond member going down until others send to its host by another: the ToR "
                 "withdraws the /32 route of the host.");
}

Choices<HashAlgorithm> algorithms() {
  return {{"mix", HashAlgorithm::kMix},
          {"crc", HashAlgorithm::kCrc},
          {"same-salt", HashAlgorithm::kSameSalt}};
}

KeyTable<SwitchHashDraft> hash_table() {
  KeyTable<SwitchHashDraft> table;
  table.component("switch", field(&SwitchHashDraft::name), "The switch.").required();
  table.choice("algorithm",
               algorithms(),
               field(&SwitchHashDraft::hash, &SwitchHashOverride::algorithm),
               "Its algorithm.");
  table
      .count("salt",
             {0, std::numeric_limits<std::int64_t>::max()},
             field(&SwitchHashDraft::hash, &SwitchHashOverride::salt),
             "Its salt or seed.")
      .otherwise("drawn from the seed of the run");
  return table;
}

}  // namespace

void add_fabric_keys(ScenarioTable& table) {
  add_shape(table);
  add_links(table);
  table.choice("fabric.hash.algorithm",
               algorithms(),
               fabric(&FabricOptions::hash),
               "How switches spread flows: `mix` with a salt for each, `crc` with a seed for each "
               "(which only permutes the members), `same-salt` with one salt for all. The latter "
               "two polarize.");
  table.list("fabric.hash.switches",
             {0, 1000},
             hash_table(),
             field(&ScenarioDraft::hash_drafts),
             "Switches that hash in a way of their own.");
}

}  // namespace bonescan
