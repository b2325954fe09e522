#include "model/fabric/fabric_graph.h"

#include "model/fabric/component_ref.h"
#include "model/fabric/router.h"
#include "tests/support/chi_square.h"
#include "tests/support/fabrics.h"

#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

FabricOptions graph_of(const FabricOptions& preset) {
  const auto options = graph_fabric(wiring_of(Fabric(preset)));
  EXPECT_TRUE(options) << (options ? "" : options.error().detail);
  return options ? *options : FabricOptions{};
}

std::string way_text(const Fabric& fabric, const LinkPath& path) {
  std::string text;
  for (const LinkId link : path.span()) {
    text += fabric.cable_name(Fabric::cable_of(link)) + (Fabric::is_up(link) ? " up, " : " down, ");
  }
  return text;
}

/// Every preset again as a graph: the same names, the same cables, the same set of ways.
TEST(FabricGraph, TakesTheWaysOfThePresetsThatItIsMadeFrom) {
  for (const auto& [name, options] : test::small_fabrics()) {
    if (name == "rail-only" || name == "hpn") {
      continue;  // Some ToRs are not connected.
    }
    SCOPED_TRACE(name);
    const Fabric preset(options);
    const Fabric graph(graph_of(options));
    ASSERT_EQ(graph.cable_count(), preset.cable_count());
    for (std::uint32_t c = 0; c < preset.cable_count(); ++c) {
      EXPECT_EQ(graph.cable_name(CableId(c)).substr(0, 5), "link(");
    }
    const LinkTable preset_links(preset);
    const LinkTable graph_links(graph);
    const Router by_rule(preset, preset_links, 1);
    const Router by_table(graph, graph_links, 2);
    for (const auto& [host_a, host_b] : {std::pair{0u, 1u}, std::pair{0u, 3u}, std::pair{1u, 5u}}) {
      std::set<std::string> rule_ways;
      std::set<std::string> table_ways;
      const RnicId from = preset.rnic(HostId(host_a), 0);
      const RnicId to = preset.rnic(HostId(host_b), 1);
      const auto graph_rnic = [&](RnicId rnic) {
        return parse_component(graph, preset.rnic_name(rnic))->rnic();
      };
      for (std::uint16_t port = 0; port < 2'000; ++port) {
        const std::uint64_t flow = flow_hash(from.index(), to.index(), port);
        rule_ways.insert(way_text(preset, by_rule.path(from, to, flow)));
        table_ways.insert(way_text(graph, by_table.path(graph_rnic(from), graph_rnic(to), flow)));
      }
      EXPECT_EQ(table_ways, rule_ways);
    }
  }
}

TEST(FabricGraph, SpreadsEvenlyAndAvoidsExcludedLinks) {
  FabricOptions options;
  options.segments = 2;
  options.hosts_per_segment = 1;
  options.rails = 1;
  options.aggregation_switches = 5;
  const Fabric graph(graph_of(options));
  LinkTable links(graph);
  const Router router(graph, links, 3);
  const auto spread = [&] {
    std::vector<std::uint64_t> counts(graph.trunk_count());
    for (std::uint32_t port = 0; port < 10'000; ++port) {
      const LinkPath path =
          router.path(RnicId(0), RnicId(1), flow_hash(0, 1, static_cast<std::uint16_t>(port)));
      ++counts[Fabric::cable_of(path.links[1]).index() - graph.trunk(0).index()];
    }
    return counts;
  };
  std::vector<std::uint64_t> counts = spread();
  counts.resize(5);
  EXPECT_LT(test::chi_square_uniform(counts), test::chi_square_bound(4));
  links.set_excluded(graph.trunk(2), true);
  counts = spread();
  EXPECT_EQ(counts[2], 0u);
  EXPECT_GT(counts[1], 2'000u);
}

TEST(FabricGraph, FindsComponentsByTheirNames) {
  FabricOptions preset;
  preset.segments = 2;
  preset.hosts_per_segment = 2;
  preset.rails = 2;
  preset.aggregation_switches = 2;
  Wiring wiring = wiring_of(Fabric(preset));
  for (WiringCable& cable : wiring.cables) {
    for (WiringEnd* end : {&cable.lower, &cable.upper}) {
      end->node = "x_" + end->node;
    }
  }
  const auto options = graph_fabric(wiring);
  ASSERT_TRUE(options) << options.error().detail;
  const Fabric graph(*options);
  for (const auto& [kind, count] : {std::pair{RefKind::kHost, graph.host_count()},
                                    std::pair{RefKind::kRnic, graph.rnic_count()},
                                    std::pair{RefKind::kAgent, graph.host_count()},
                                    std::pair{RefKind::kSwitch, graph.switch_count()},
                                    std::pair{RefKind::kCable, graph.cable_count()}}) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const ComponentRef ref{kind, i};
      const auto parsed = parse_component(graph, component_name(graph, ref));
      ASSERT_TRUE(parsed) << parsed.error().detail;
      EXPECT_EQ(*parsed, ref);
    }
  }
  EXPECT_TRUE(parse_component(graph, "link(x_tor-0.0,x_agg-1)"));
  for (const std::string text : {"x_tor-7.0",
                                 "link(x_tor-0.0, x_tor-0.1)",
                                 "x_host-0.00/rnic-2",
                                 "x_host-0.00/rnic-1x",
                                 ""}) {
    EXPECT_FALSE(parse_component(graph, text)) << text;
  }
}

TEST(FabricGraph, SaysWhatIsWrong) {
  struct Case {
    std::string name;
    void (*spoil)(Wiring& wiring);
    std::string detail;
  };
  const std::vector<Case> cases = {
      {"no cables", [](Wiring& w) { w.cables.clear(); }, "no host"},
      {"an RNIC without a cable",
       [](Wiring& w) { w.cables.erase(w.cables.begin() + 1); },
       "host-0.00 has no cable at rnic-1; every host must have 2 RNICs"},
      {"two cables at an RNIC",
       [](Wiring& w) { w.cables.push_back(w.cables[0]); },
       "host-0.00 rnic-0 has two cables"},
      {"parallel cables",
       [](Wiring& w) { w.cables.push_back(w.cables.back()); },
       "link(tor-1.1, agg-1) twice"},
      {"a host above",
       [](Wiring& w) { std::swap(w.cables[0].lower, w.cables[0].upper); },
       "lower end"},
      {"a name with a blank", [](Wiring& w) { w.cables[0].upper.node = "my tor"; }, "a blank"},
      {"a ToR on its own", [](Wiring& w) { w.cables[0].upper.node = "lost"; }, "are not connected"},
      {"a long way",
       [](Wiring& w) {
         w.cables[0].upper.node = "far";
         w.cables.push_back({{"far", ""}, {"mid-1", ""}, BitsPerSecond(0)});
         w.cables.push_back({{"mid-1", ""}, {"mid-2", ""}, BitsPerSecond(0)});
         w.cables.push_back({{"mid-2", ""}, {"agg-0", ""}, BitsPerSecond(0)});
         w.cables.push_back({{"mid-2", ""}, {"mid-3", ""}, BitsPerSecond(0)});
       },
       "ok"},
      {"too long a way",
       [](Wiring& w) {
         w.cables[0].upper.node = "far";
         w.cables.push_back({{"far", ""}, {"mid-1", ""}, BitsPerSecond(0)});
         w.cables.push_back({{"mid-1", ""}, {"mid-2", ""}, BitsPerSecond(0)});
         w.cables.push_back({{"mid-2", ""}, {"mid-3", ""}, BitsPerSecond(0)});
         w.cables.push_back({{"mid-3", ""}, {"agg-0", ""}, BitsPerSecond(0)});
       },
       "are 5 cables apart; at most 4"},
  };
  FabricOptions preset;
  preset.segments = 2;
  preset.hosts_per_segment = 2;
  preset.rails = 2;
  preset.aggregation_switches = 2;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Wiring wiring = wiring_of(Fabric(preset));
    c.spoil(wiring);
    const auto options = graph_fabric(wiring);
    EXPECT_EQ(options.has_value(), c.detail == "ok");
    if (!options) {
      EXPECT_THAT(options.error().detail, testing::HasSubstr(c.detail));
    }
  }
}

}  // namespace
}  // namespace bonescan
