#include "model/fabric/wiring.h"

#include "model/fabric/wiring_fit.h"
#include "sim/base/rng_stream.h"
#include "tests/support/fabrics.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

FabricOptions two_segments() {
  FabricOptions options;
  options.segments = 2;
  options.hosts_per_segment = 8;
  options.rails = 4;
  options.aggregation_switches = 2;
  return options;
}

/// The cable at a port.
WiringCable& at(Wiring& wiring, const WiringEnd& end) {
  return *std::ranges::find_if(wiring.cables, [&](const WiringCable& cable) {
    return cable.lower == end || cable.upper == end;
  });
}

void drop_ports_of(Wiring& wiring, std::string_view prefix) {
  for (WiringCable& cable : wiring.cables) {
    for (WiringEnd* end : {&cable.lower, &cable.upper}) {
      if (end->node.starts_with(prefix)) {
        end->port.clear();
      }
    }
  }
}

std::vector<std::string> texts(const std::vector<WiringFinding>& findings) {
  std::vector<std::string> result;
  for (const WiringFinding& finding : findings) {
    result.push_back(std::string(to_string(finding.fault)) + ": " + finding.text);
  }
  return result;
}

/// A port has one cable, and both of its ends count ports from 1 without gaps.
TEST(Wiring, BlueprintsUseEveryPortOnce) {
  for (const auto& [name, options] : test::small_fabrics()) {
    SCOPED_TRACE(name);
    FabricOptions with_spares = options;
    with_spares.spare_tor_ports = 3;
    const Fabric fabric(with_spares);
    const Wiring wiring = wiring_of(fabric);
    ASSERT_EQ(wiring.cables.size(), fabric.cable_count());
    std::set<WiringEnd> ends;
    for (const WiringCable& cable : wiring.cables) {
      EXPECT_TRUE(ends.insert(cable.lower).second) << end_text(cable.lower);
      EXPECT_TRUE(ends.insert(cable.upper).second) << end_text(cable.upper);
    }
    EXPECT_TRUE(check_wiring(wiring, wiring).empty());
  }
}

TEST(Wiring, NamesWhatIsWrong) {
  const Wiring blueprint = wiring_of(Fabric(two_segments()));
  struct Case {
    std::string name;
    void (*spoil)(Wiring& found);
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases = {
      {"nothing", [](Wiring&) {}, {}},
      {"two ports of a ToR",
       [](Wiring& w) {
         std::swap(at(w, {"tor-1.3", "7"}).lower, at(w, {"tor-1.3", "8"}).lower);
       },
       {"swapped: tor-1.3 port 7 and port 8 are swapped: host-1.06 rnic-3 should be in the first "
        "and host-1.07 rnic-3 in the second"}},
      {"two RNICs of a host",
       [](Wiring& w) {
         std::swap(at(w, {"host-0.03", "rnic-2"}).upper, at(w, {"host-0.03", "rnic-3"}).upper);
       },
       {"swapped: host-0.03 rnic-2 and rnic-3 are swapped: tor-0.2 port 4 should be in the first "
        "and tor-0.3 port 4 in the second"}},
      {"two uplinks of a ToR",
       [](Wiring& w) {
         std::swap(at(w, {"tor-0.1", "9"}).upper, at(w, {"tor-0.1", "10"}).upper);
       },
       {"swapped: tor-0.1 port 9 and port 10 are swapped: agg-0 port 2 should be in the first and "
        "agg-1 port 2 in the second"}},
      {"cables of different nodes",
       [](Wiring& w) {
         std::swap(at(w, {"host-0.01", "rnic-0"}).upper, at(w, {"host-1.02", "rnic-3"}).upper);
       },
       {"swapped: the cables of tor-0.0 port 2 and tor-1.3 port 3 are crossed: tor-0.0 port 2 goes "
        "to host-1.02 rnic-3, and tor-1.3 port 3 to host-0.01 rnic-0"}},
      {"a cable in a spare port",
       [](Wiring& w) {
         at(w, {"host-0.01", "rnic-0"}).upper.port = "40";
       },
       {"misplaced: host-0.01 rnic-0 is cabled to tor-0.0 port 40 instead of tor-0.0 port 2"}},
      {"a cable is gone",
       [](Wiring& w) { w.cables.pop_back(); },
       {"missing: no cable between agg-1 port 8 and tor-1.3 port 10"}},
      {"a cable too many",
       [](Wiring& w) {
         w.cables.push_back({{"tor-0.0", "30"}, {"tor-0.1", "30"}, BitsPerSecond(0)});
       },
       {"extra: a cable between tor-0.0 port 30 and tor-0.1 port 30, which the blueprint does not "
        "have"}},
      {"a slow cable",
       [](Wiring& w) { w.cables[0].rate = BitsPerSecond(100'000'000'000); },
       {"rate: the cable between host-0.00 rnic-0 and tor-0.0 port 1 runs at 100 Gb/s instead of "
        "400"}},
      {"ends written the other way round",
       [](Wiring& w) { std::swap(w.cables[5].lower, w.cables[5].upper); },
       {}},
      {"no port of any switch is known",
       [](Wiring& w) {
         std::swap(at(w, {"host-0.03", "rnic-2"}).upper, at(w, {"host-0.03", "rnic-3"}).upper);
         drop_ports_of(w, "tor-");
         drop_ports_of(w, "agg-");
       },
       {"swapped: host-0.03 rnic-2 and rnic-3 are swapped: tor-0.2 should be in the first and "
        "tor-0.3 in the second"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Wiring found = blueprint;
    c.spoil(found);
    EXPECT_EQ(texts(check_wiring(blueprint, found)), c.expected);
  }
}

/// Any two cables whose upper ends are swapped are one finding that names the right ports.
TEST(Wiring, FindsEverySwapAsOne) {
  for (const auto& [name, options] : test::small_fabrics()) {
    const Wiring blueprint = wiring_of(Fabric(options));
    const RngStream random(1, Purpose::kTest, 0);
    for (std::uint32_t round = 0; round < 200; ++round) {
      SCOPED_TRACE(name + " seed=" + std::to_string(round));
      const PhiloxCounter bits = random.block(round);
      Wiring found = blueprint;
      WiringCable& first = found.cables[bits[0] % found.cables.size()];
      WiringCable& second = found.cables[bits[1] % found.cables.size()];
      // Cables between different kinds of nodes would make others than swaps of two ends.
      if (&first == &second || first.rate != second.rate) {
        continue;
      }
      const std::set<std::string> touched = {end_text(first.lower),
                                             end_text(first.upper),
                                             end_text(second.lower),
                                             end_text(second.upper)};
      std::swap(first.upper, second.upper);
      const auto findings = check_wiring(blueprint, found);
      ASSERT_EQ(findings.size(), 1u);
      EXPECT_EQ(findings[0].fault, WiringFault::kSwapped);
      ASSERT_EQ(findings[0].ends.size(), 2u);
      for (const std::string& end : findings[0].ends) {
        EXPECT_EQ(touched.count(end), 1u) << end;
      }
    }
  }
}

/// Many mistakes at once: as many findings as mistakes, and none that is not there.
TEST(Wiring, KeepsManyMistakesApart) {
  const Wiring blueprint = wiring_of(Fabric(two_segments()));
  Wiring found = blueprint;
  std::swap(found.cables[0].upper, found.cables[4].upper);
  std::swap(found.cables[9].upper, found.cables[13].upper);
  found.cables[20].upper.port = "99";
  found.cables.erase(found.cables.begin() + 30);
  const auto findings = check_wiring(blueprint, found);
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].fault, WiringFault::kSwapped);
  EXPECT_EQ(findings[1].fault, WiringFault::kSwapped);
  EXPECT_EQ(findings[2].fault, WiringFault::kMisplaced);
  EXPECT_EQ(findings[3].fault, WiringFault::kMissing);
}

TEST(FitPreset, RecognizesEveryPresetByItsCables) {
  for (const auto& [name, options] : test::small_fabrics()) {
    SCOPED_TRACE(name);
    Wiring wiring = wiring_of(Fabric(options));
    drop_ports_of(wiring, "tor-");
    const auto fitted = fit_preset(wiring);
    ASSERT_TRUE(fitted) << fitted.error().detail;
    EXPECT_EQ(fitted->preset, options.preset);
    EXPECT_EQ(fitted->segments, options.segments);
    EXPECT_EQ(fitted->hosts_per_segment,
              options.hosts_per_segment + options.spare_hosts_per_segment);
    EXPECT_EQ(fitted->rails, options.rails);
    EXPECT_EQ(fitted->aggregation_switches, options.aggregation_switches);
    EXPECT_EQ(Fabric(*fitted).cable_count(), Fabric(options).cable_count());
    EXPECT_EQ(fitted->access.rate, options.link_rate);
  }
}

TEST(FitPreset, SaysWhyNot) {
  struct Case {
    std::string name;
    void (*spoil)(Wiring& found);
    std::string detail;
  };
  const std::vector<Case> cases = {
      {"a stranger",
       [](Wiring& w) { w.cables[3].upper.node = "leaf-7"; },
       "'leaf-7' is no name that a preset has"},
      {"one cable less", [](Wiring& w) { w.cables.pop_back(); }, "1 mistakes, first: no cable"},
      {"a swap",
       [](Wiring& w) { std::swap(w.cables[0].upper, w.cables[1].upper); },
       "host-0.00 rnic-0 and rnic-1 are swapped"},
      {"no hosts",
       [](Wiring& w) { w.cables.erase(w.cables.begin(), w.cables.begin() + 64); },
       "there must be hosts"},
      {"a host far out",
       [](Wiring& w) { w.cables[0].lower.node = "host-3999.3999"; },
       "promise more hosts than there are cables"},
      {"names of two kinds", [](Wiring& w) { w.cables[0].upper.node = "tor-0.0.1"; }, "dots"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Wiring wiring = wiring_of(Fabric(two_segments()));
    c.spoil(wiring);
    const auto fitted = fit_preset(wiring);
    ASSERT_FALSE(fitted);
    EXPECT_THAT(fitted.error().detail, testing::HasSubstr(c.detail));
  }
}

TEST(NormalizePorts, UnderstandsTheNamesOfDevicesAndSwitchPorts) {
  const Fabric fabric(two_segments());
  struct Case {
    WiringEnd end;
    std::string port;
  };
  const std::vector<Case> cases = {{{"tor-0.3", "Ethernet1/7"}, "7"},
                                   {{"tor-0.3", "swp07"}, "7"},
                                   {{"tor-0.3", "7"}, "7"},
                                   {{"tor-0.3", "mgmt"}, "mgmt"},
                                   {{"host-0.03", "mlx5_3"}, "rnic-3"},
                                   {{"host-0.03", "HCA-4"}, "rnic-3"},
                                   {{"host-0.03", "rnic-3"}, "rnic-3"},
                                   {{"frontend-1", "Ethernet9"}, "Ethernet9"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(end_text(c.end));
    Wiring wiring{{{c.end, {"agg-0", ""}, BitsPerSecond(0)}}};
    normalize_ports(wiring, fabric);
    EXPECT_EQ(wiring.cables[0].lower.port, c.port);
  }
}

}  // namespace
}  // namespace bonescan
