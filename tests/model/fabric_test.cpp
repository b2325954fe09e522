#include "model/fabric/fabric.h"

#include <set>
#include <string>
#include <vector>

namespace bonescan {
namespace {

Fabric small_fabric() {
  return Fabric({.segments = 3, .hosts_per_segment = 4, .rails = 2, .aggregation_switches = 5});
}

TEST(Fabric, CountsEverythingInClosedForm) {
  struct Case {
    std::string name;
    FabricOptions options;
    std::uint32_t hosts, rnics, tors, switches, cables;
  };
  const std::vector<Case> cases = {
      {"one of each",
       {.segments = 1, .hosts_per_segment = 1, .rails = 1, .aggregation_switches = 1},
       1,
       1,
       1,
       2,
       2},
      {"small",
       {.segments = 3, .hosts_per_segment = 4, .rails = 2, .aggregation_switches = 5},
       12,
       24,
       6,
       11,
       24 + 30},
      {"512 GPUs",
       {.segments = 4, .hosts_per_segment = 16, .rails = 8, .aggregation_switches = 8},
       64,
       512,
       32,
       40,
       512 + 256},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Fabric fabric(c.options);
    EXPECT_EQ(fabric.host_count(), c.hosts);
    EXPECT_EQ(fabric.rnic_count(), c.rnics);
    EXPECT_EQ(fabric.tor_count(), c.tors);
    EXPECT_EQ(fabric.switch_count(), c.switches);
    EXPECT_EQ(fabric.cable_count(), c.cables);
    EXPECT_EQ(fabric.link_count(), 2 * c.cables);
  }
}

TEST(Fabric, NumbersHostsAndRnicsDensely) {
  const Fabric fabric = small_fabric();
  std::uint32_t next_host = 0;
  std::uint32_t next_rnic = 0;
  for (std::uint32_t segment = 0; segment < 3; ++segment) {
    for (std::uint32_t index = 0; index < 4; ++index) {
      const HostId host = fabric.host(segment, index);
      EXPECT_EQ(host, HostId(next_host++));
      EXPECT_EQ(fabric.segment_of(host), segment);
      for (std::uint32_t rail = 0; rail < 2; ++rail) {
        const RnicId rnic = fabric.rnic(host, rail);
        EXPECT_EQ(rnic, RnicId(next_rnic++));
        EXPECT_EQ(fabric.host_of(rnic), host);
        EXPECT_EQ(fabric.rail_of(rnic), rail);
        EXPECT_EQ(fabric.tor_of(rnic), fabric.tor(segment, rail));
        EXPECT_EQ(fabric.access_cable(rnic).index(), rnic.index());
      }
    }
  }
}

TEST(Fabric, CablesKnowBothEndsAndTheirLinks) {
  const Fabric fabric = small_fabric();
  std::set<CableId> seen;
  for (std::uint32_t r = 0; r < fabric.rnic_count(); ++r) {
    EXPECT_TRUE(fabric.is_access(fabric.access_cable(RnicId(r))));
    seen.insert(fabric.access_cable(RnicId(r)));
  }
  for (std::uint32_t t = 0; t < fabric.tor_count(); ++t) {
    EXPECT_TRUE(fabric.is_tor(SwitchId(t)));
    for (std::uint32_t a = 0; a < 5; ++a) {
      const CableId cable = fabric.fabric_cable(SwitchId(t), a);
      EXPECT_FALSE(fabric.is_access(cable));
      EXPECT_EQ(fabric.tor_end(cable), SwitchId(t));
      EXPECT_EQ(fabric.aggregation_end(cable), a);
      EXPECT_FALSE(fabric.is_tor(fabric.aggregation(a)));
      seen.insert(cable);
    }
  }
  EXPECT_EQ(seen.size(), fabric.cable_count()) << "every cable has exactly one pair of ends";
  for (std::uint32_t c = 0; c < fabric.cable_count(); ++c) {
    EXPECT_EQ(Fabric::up(CableId(c)), LinkId(2 * c));
    EXPECT_EQ(Fabric::down(CableId(c)), LinkId(2 * c + 1));
    EXPECT_EQ(Fabric::cable_of(LinkId(2 * c)), CableId(c));
    EXPECT_EQ(Fabric::cable_of(LinkId(2 * c + 1)), CableId(c));
    EXPECT_TRUE(Fabric::is_up(LinkId(2 * c)));
    EXPECT_FALSE(Fabric::is_up(LinkId(2 * c + 1)));
  }
}

/// The nodes at the two ends of a directed link; RNICs are numbered after the switches.
struct Ends {
  std::uint32_t from;
  std::uint32_t to;
};

Ends ends_of(const Fabric& fabric, LinkId link) {
  const CableId cable = Fabric::cable_of(link);
  Ends up{};
  if (fabric.is_access(cable)) {
    const RnicId rnic(cable.index());
    up = {fabric.switch_count() + rnic.index(), fabric.tor_of(rnic).index()};
  } else {
    up = {fabric.tor_end(cable).index(), fabric.aggregation(fabric.aggregation_end(cable)).index()};
  }
  return Fabric::is_up(link) ? up : Ends{up.to, up.from};
}

TEST(Fabric, PathOfEveryPairIsConnected) {
  const Fabric fabric = small_fabric();
  for (std::uint32_t s = 0; s < fabric.rnic_count(); ++s) {
    for (std::uint32_t t = 0; t < fabric.rnic_count(); ++t) {
      if (s == t) {
        continue;
      }
      for (std::uint32_t a = 0; a < 5; ++a) {
        const LinkPath path = fabric.path(RnicId(s), RnicId(t), {.aggregation = a});
        const bool same_tor = fabric.tor_of(RnicId(s)) == fabric.tor_of(RnicId(t));
        ASSERT_EQ(path.span().size(), same_tor ? 2u : 4u) << s << " -> " << t;
        std::uint32_t at = fabric.switch_count() + s;
        for (const LinkId link : path.span()) {
          ASSERT_EQ(ends_of(fabric, link).from, at) << s << " -> " << t << " by " << a;
          at = ends_of(fabric, link).to;
        }
        ASSERT_EQ(at, fabric.switch_count() + t) << s << " -> " << t << " by " << a;
      }
    }
  }
}

TEST(Fabric, NamesAreWhatAnOperatorWrites) {
  const Fabric fabric(
      {.segments = 3, .hosts_per_segment = 12, .rails = 4, .aggregation_switches = 2});
  const RnicId rnic = fabric.rnic(fabric.host(2, 5), 3);
  EXPECT_EQ(fabric.host_name(fabric.host(1, 11)), "host-1.11");
  EXPECT_EQ(fabric.rnic_name(rnic), "host-2.05/rnic-3");
  EXPECT_EQ(fabric.switch_name(fabric.tor(1, 3)), "tor-1.3");
  EXPECT_EQ(fabric.switch_name(fabric.aggregation(1)), "agg-1");
  EXPECT_EQ(fabric.cable_name(fabric.access_cable(rnic)), "link(host-2.05/rnic-3, tor-2.3)");
  EXPECT_EQ(fabric.cable_name(fabric.fabric_cable(fabric.tor(1, 0), 1)), "link(tor-1.0, agg-1)");
}

}  // namespace
}  // namespace bonescan
