// How flows spread over a whole fabric: switch by switch, and there against back.
#include "model/probe_path.h"
#include "tests/support/chi_square.h"
#include "tests/support/fabrics.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using test::chi_square_bound;
using test::chi_square_uniform;

constexpr std::uint16_t kFirstPort = 49'152;
constexpr std::uint16_t kPorts = 512;

struct NamedAlgorithm {
  std::string name;
  HashAlgorithm algorithm;
};

const std::vector<NamedAlgorithm>& algorithms() {
  static const std::vector<NamedAlgorithm> kAll = {{"mix", HashAlgorithm::kMix},
                                                   {"crc", HashAlgorithm::kCrc},
                                                   {"same-salt", HashAlgorithm::kSameSalt}};
  return kAll;
}

WorldOptions world_options(FabricOptions fabric, HashAlgorithm algorithm) {
  fabric.hash = algorithm;
  WorldOptions options;
  options.fabric = fabric;
  options.seed = 11;
  return options;
}

/// Calls `use` with the path of every flow between RNICs that are connected, on different hosts.
template <class Use>
void for_each_flow(const World& world, const Use& use) {
  const Fabric& fabric = world.fabric();
  for (std::uint32_t s = 0; s < fabric.rnic_count(); ++s) {
    for (std::uint32_t t = 0; t < fabric.rnic_count(); ++t) {
      const RnicId source(s);
      const RnicId target(t);
      if (fabric.host_of(source) == fabric.host_of(target) || !fabric.connected(source, target)) {
        continue;
      }
      for (std::uint16_t port = kFirstPort; port < kFirstPort + kPorts; ++port) {
        use(source,
            target,
            resolve_path(world, {.source = source, .target = target, .source_port = port}));
      }
    }
  }
}

/// Flows by the member that a switch chose, for every switch that had a choice.
using Choices = std::map<std::uint32_t, std::vector<std::uint64_t>>;

struct Spread {
  Choices tors;     ///< by ToR: of an aggregation switch
  Choices uplinks;  ///< by the ToR's uplink that was taken: of a core switch
};

Spread spread_of(const World& world) {
  const Fabric& fabric = world.fabric();
  Spread spread;
  for_each_flow(world, [&](RnicId, RnicId, const ProbePath& path) {
    std::uint32_t uplink = 0;
    for (const LinkId link : path.request.span()) {
      const CableId cable = Fabric::cable_of(link);
      if (!Fabric::is_up(link) || fabric.is_access(cable)) {
        continue;
      }
      const SwitchId from = fabric.lower_switch(cable);
      if (fabric.tier_of(cable) == CableTier::kCore) {
        std::vector<std::uint64_t>& counts = spread.uplinks[uplink];
        counts.resize(fabric.cores_per_aggregation());
        ++counts[cable.index() - fabric.core_cable(from, 0).index()];
      } else {
        uplink = cable.index();
        std::vector<std::uint64_t>& counts = spread.tors[from.index()];
        counts.resize(fabric.options().aggregation_switches);
        ++counts[fabric.aggregation_end(cable)];
      }
    }
  });
  return spread;
}

TEST(EcmpSpread, IsUniformAtEveryTorOfEveryPreset) {
  for (const auto& [preset, fabric] : test::small_fabrics()) {
    for (const auto& [name, algorithm] : algorithms()) {
      Engine engine;
      const World world(world_options(fabric, algorithm), engine);
      const Spread spread = spread_of(world);
      EXPECT_EQ(spread.tors.size(), world.fabric().tor_count());
      for (const auto& [tor, counts] : spread.tors) {
        SCOPED_TRACE(preset + " " + name + " " + world.fabric().switch_name(SwitchId(tor)));
        EXPECT_LT(chi_square_uniform(counts), chi_square_bound(counts.size() - 1));
      }
    }
  }
}

/// A salt for each switch spreads a second time what the first one has sorted; the others do not.
TEST(EcmpSpread, PolarizesAtTheSecondStageWithoutSalts) {
  const auto fabrics = test::small_fabrics();
  const auto three = std::ranges::find(fabrics, "three-tier", &test::NamedFabric::name);
  for (const auto& [name, algorithm] : algorithms()) {
    Engine engine;
    const World world(world_options(three->options, algorithm), engine);
    const Spread spread = spread_of(world);
    EXPECT_EQ(spread.uplinks.size(), world.fabric().trunk_count());
    for (const auto& [uplink, counts] : spread.uplinks) {
      SCOPED_TRACE(name + " " + world.fabric().cable_name(CableId(uplink)));
      const double statistic = chi_square_uniform(counts);
      if (algorithm == HashAlgorithm::kMix) {
        EXPECT_LT(statistic, chi_square_bound(counts.size() - 1));
      } else {
        EXPECT_GT(statistic, 10.0 * chi_square_bound(counts.size() - 1));
      }
    }
  }
}

/// The aggregation switch of a way, within its group.
std::uint32_t aggregation_of(const Fabric& fabric, const LinkPath& path) {
  return fabric.aggregation_end(Fabric::cable_of(path.links[1]));
}

LinkPath turned_round(const LinkPath& path) {
  LinkPath back;
  back.count = path.count;
  for (std::uint32_t i = 0; i < path.count; ++i) {
    const LinkId link = path.links[path.count - 1 - i];
    const CableId cable = Fabric::cable_of(link);
    back.links[i] = Fabric::is_up(link) ? Fabric::down(cable) : Fabric::up(cable);
  }
  return back;
}

TEST(EcmpWays, ThereAndBackAreIndependentUnlessBelowOneTor) {
  for (const auto& [preset, options] : test::small_fabrics()) {
    for (const auto& [name, algorithm] : algorithms()) {
      SCOPED_TRACE(preset + " " + name);
      Engine engine;
      const World world(world_options(options, algorithm), engine);
      const Fabric& fabric = world.fabric();
      const std::uint32_t members = options.aggregation_switches;
      std::vector<std::uint64_t> joint(std::size_t{members} * members);
      std::uint64_t below_one_tor = 0;
      for_each_flow(world, [&](RnicId, RnicId, const ProbePath& path) {
        if (path.request.count == 2 && path.answer.count == 2) {
          ++below_one_tor;
          if (fabric.ports() == 1) {
            ASSERT_TRUE(std::ranges::equal(turned_round(path.request).span(), path.answer.span()));
          }
        } else if (path.request.count > 2 && path.answer.count > 2) {
          ++joint[aggregation_of(fabric, path.request) * members +
                  aggregation_of(fabric, path.answer)];
        }
      });
      EXPECT_GT(below_one_tor, 0u);
      EXPECT_LT(chi_square_uniform(joint), chi_square_bound(joint.size() - 1));
    }
  }
}

/// With bonds even a pair below one ToR has two ways: each end chooses its port.
TEST(EcmpWays, PortsOfABondAreChosenIndependently) {
  for (const auto& [preset, options] : test::small_fabrics()) {
    Engine engine;
    const World world(world_options(options, HashAlgorithm::kMix), engine);
    const Fabric& fabric = world.fabric();
    const std::uint32_t ports = fabric.ports();
    if (ports == 1) {
      continue;
    }
    SCOPED_TRACE(preset);
    std::vector<std::uint64_t> joint(std::size_t{ports} * ports);
    for_each_flow(world, [&](RnicId, RnicId, const ProbePath& path) {
      const std::uint32_t sent = fabric.port_of(Fabric::cable_of(path.request.links[0]));
      const std::uint32_t answered = fabric.port_of(Fabric::cable_of(path.answer.links[0]));
      ++joint[sent * ports + answered];
    });
    EXPECT_LT(chi_square_uniform(joint), chi_square_bound(joint.size() - 1));
  }
}

}  // namespace
}  // namespace bonescan
