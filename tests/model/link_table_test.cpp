#include "model/fabric/link_table.h"

#include "model/fabric/ecmp_hash.h"

#include <cmath>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::microseconds;

Fabric small_fabric() {
  return Fabric({.segments = 2, .hosts_per_segment = 2, .rails = 2, .aggregation_switches = 4});
}

LinkImpairment impairment(double loss_ratio,
                          Duration delay = {},
                          Duration queue_mean = {},
                          const PacketFilter& packets = {}) {
  return {loss_ratio, delay, queue_mean, packets, 1.0};
}

PacketFilter share_of_flows(double share) {
  PacketFilter filter;
  filter.flow_share = share;
  return filter;
}

PacketFilter sizes(std::uint32_t least, std::uint32_t most, std::optional<std::uint8_t> dscp = {}) {
  return {least, most, dscp, 1.0};
}

constexpr std::uint32_t kAnySize = 0xFFFFFFFF;

LinkConditions met(const LinkTable& table, LinkId link, const PacketView& packet = {}) {
  LinkConditions conditions;
  table.accumulate(std::span(&link, 1), packet, conditions);
  return conditions;
}

void expect_healthy(const LinkConditions& conditions) {
  EXPECT_EQ(conditions.pass_ratio, 1.0);
  EXPECT_EQ(conditions.delay, Duration::zero());
  EXPECT_EQ(conditions.queue_mean_ns, 0.0);
}

TEST(LinkTable, LinksWithoutEffectsAreHealthy) {
  const Fabric fabric = small_fabric();
  const LinkTable table(fabric);
  for (std::uint32_t l = 0; l < fabric.link_count(); ++l) {
    expect_healthy(met(table, LinkId(l)));
  }
}

TEST(LinkTable, ImpairmentsComposeOnOneLinkAndAlongAPath) {
  const Fabric fabric = small_fabric();
  LinkTable table(fabric);
  table.add(LinkId(4), impairment(0.5, microseconds(2)));
  table.add(LinkId(4), impairment(0.2, microseconds(1), microseconds(7)));
  table.add(LinkId(9), impairment(0.1, {}, microseconds(3)));
  const LinkConditions one = met(table, LinkId(4));
  EXPECT_DOUBLE_EQ(one.pass_ratio, 0.5 * 0.8);
  EXPECT_EQ(one.delay, microseconds(3));
  EXPECT_DOUBLE_EQ(one.queue_mean_ns, 7'000.0);
  expect_healthy(met(table, LinkId(5)));

  const std::vector<LinkId> path = {LinkId(0), LinkId(4), LinkId(9)};
  LinkConditions along;
  table.accumulate(path, {}, along);
  EXPECT_DOUBLE_EQ(along.pass_ratio, 0.5 * 0.8 * 0.9);
  EXPECT_EQ(along.delay, microseconds(3));
  EXPECT_DOUBLE_EQ(along.queue_mean_ns, 10'000.0);
}

/// Bit for bit, whatever the order of removal: the columns are recomputed, not divided back.
TEST(LinkTable, RemovingRestoresExactly) {
  const Fabric fabric = small_fabric();
  LinkTable table(fabric);
  table.add(LinkId(3), impairment(0.3, microseconds(5)));
  const double before = met(table, LinkId(3)).pass_ratio;
  const std::vector<double> ratios = {0.1, 1.0 / 3.0, 0.7, 1.0};
  for (std::size_t first = 0; first < ratios.size(); ++first) {
    std::vector<ImpairmentId> added;
    for (const double ratio : ratios) {
      added.push_back(table.add(LinkId(3), impairment(ratio, microseconds(1))));
    }
    EXPECT_EQ(met(table, LinkId(3)).pass_ratio, 0.0) << "one of them loses everything";
    for (std::size_t i = 0; i < added.size(); ++i) {
      table.remove(added[(first + i) % added.size()]);
    }
    EXPECT_EQ(met(table, LinkId(3)).pass_ratio, before);
    EXPECT_EQ(met(table, LinkId(3)).delay, microseconds(5));
  }
}

TEST(LinkTable, PortDownsNestAndCutBothWays) {
  const Fabric fabric = small_fabric();
  LinkTable table(fabric);
  const CableId cable(5);
  const auto passes = [&] {
    return std::vector{met(table, Fabric::up(cable)).pass_ratio,
                       met(table, Fabric::down(cable)).pass_ratio};
  };
  const std::vector<double> kOpen = {1.0, 1.0};
  const std::vector<double> kCut = {0.0, 0.0};
  table.set_port_down(cable);
  EXPECT_FALSE(table.up(cable));
  EXPECT_EQ(passes(), kCut);
  table.set_port_down(cable);
  table.set_port_up(cable);
  EXPECT_FALSE(table.up(cable)) << "one of two downs is left";
  EXPECT_EQ(passes(), kCut);
  table.set_port_up(cable);
  EXPECT_TRUE(table.up(cable));
  EXPECT_EQ(passes(), kOpen);
  EXPECT_EQ(met(table, Fabric::up(CableId(4))).pass_ratio, 1.0);
}

TEST(LinkTable, SelectsPacketsBySizeAndClass) {
  const Fabric fabric = small_fabric();
  struct Case {
    std::string name;
    PacketFilter filter;
    PacketView packet;
    bool hit;
  };
  const std::vector<Case> cases = {
      {"too small", sizes(1'000, kAnySize), {.bytes = 999}, false},
      {"smallest", sizes(1'000, kAnySize), {.bytes = 1'000}, true},
      {"largest", sizes(0, 256), {.bytes = 256}, true},
      {"too large", sizes(0, 256), {.bytes = 257}, false},
      {"its class", sizes(0, kAnySize, 26), {.dscp = 26}, true},
      {"class 0 is a class", sizes(0, kAnySize, 0), {.dscp = 0}, true},
      {"another class", sizes(0, kAnySize, 26), {.dscp = 0}, false},
      {"size without class", sizes(100, kAnySize, 26), {.bytes = 200, .dscp = 8}, false},
      {"no flow", share_of_flows(0.0), {}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    LinkTable table(fabric);
    const ImpairmentId id = table.add(LinkId(2), impairment(0.25, microseconds(4), {}, c.filter));
    const LinkConditions found = met(table, LinkId(2), c.packet);
    EXPECT_DOUBLE_EQ(found.pass_ratio, c.hit ? 0.75 : 1.0);
    EXPECT_EQ(found.delay, c.hit ? Duration(microseconds(4)) : Duration::zero());
    table.remove(id);
    expect_healthy(met(table, LinkId(2), c.packet));
  }
}

/// Within four standard deviations of the share; and always the same flows.
TEST(LinkTable, HitsTheAskedShareOfFlows) {
  const Fabric fabric = small_fabric();
  constexpr int kFlows = 20'000;
  for (const double share : {0.01, 0.25, 0.9}) {
    LinkTable table(fabric);
    table.add(LinkId(2), impairment(1.0, {}, {}, share_of_flows(share)));
    int hit = 0;
    for (std::uint32_t f = 0; f < kFlows; ++f) {
      const PacketView packet{.flow = flow_hash(f, 3, 50'000)};
      const double pass = met(table, LinkId(2), packet).pass_ratio;
      ASSERT_EQ(pass, met(table, LinkId(2), packet).pass_ratio);
      hit += pass == 0.0 ? 1 : 0;
    }
    EXPECT_NEAR(hit, share * kFlows, 4.0 * std::sqrt(kFlows * share * (1.0 - share))) << share;
  }
}

/// Which member a flow takes and whether a share of flows is hit must not hang together.
TEST(LinkTable, ShareIsIndependentOfTheEcmpChoice) {
  const Fabric fabric = small_fabric();
  LinkTable table(fabric);
  table.add(LinkId(2), impairment(1.0, {}, {}, share_of_flows(0.5)));
  std::vector<int> hit(4);
  for (std::uint32_t f = 0; f < 20'000; ++f) {
    const std::uint64_t flow = flow_hash(f, 3, 50'000);
    hit[ecmp_member(flow, 0, 4)] += met(table, LinkId(2), {.flow = flow}).pass_ratio == 0.0 ? 1 : 0;
  }
  for (const int count : hit) {
    EXPECT_NEAR(count, 2'500, 4.0 * std::sqrt(20'000 * 0.125 * 0.875));
  }
}

TEST(LinkTable, OneWayDownLeavesTheOtherWayAndIsSeenByTheOtherEndOnly) {
  const Fabric fabric = small_fabric();
  LinkTable table(fabric);
  const CableId cable(5);
  table.set_one_way_down(Fabric::up(cable));
  EXPECT_EQ(met(table, Fabric::up(cable)).pass_ratio, 0.0);
  EXPECT_EQ(met(table, Fabric::down(cable)).pass_ratio, 1.0);
  EXPECT_FALSE(table.sender_sees_down(Fabric::up(cable))) << "its own light goes nowhere";
  EXPECT_TRUE(table.sender_sees_down(Fabric::down(cable))) << "nothing arrives";
  table.set_port_down(cable);
  table.set_one_way_up(Fabric::up(cable));
  EXPECT_EQ(met(table, Fabric::up(cable)).pass_ratio, 0.0);
  EXPECT_TRUE(table.sender_sees_down(Fabric::up(cable)));
  table.set_port_up(cable);
  EXPECT_EQ(met(table, Fabric::up(cable)).pass_ratio, 1.0);
}

TEST(LinkTable, CapacityIsWhatEveryImpairmentLeaves) {
  const Fabric fabric = small_fabric();
  LinkTable table(fabric);
  const std::uint64_t healthy = table.fingerprint();
  LinkImpairment slow;
  slow.capacity_ratio = 0.5;
  const ImpairmentId first = table.add(LinkId(4), slow);
  slow.packets.min_bytes = 1'000;
  const ImpairmentId second = table.add(LinkId(4), slow);
  EXPECT_DOUBLE_EQ(table.capacity_ratio(LinkId(4)), 0.25);
  EXPECT_DOUBLE_EQ(table.capacity_ratio(LinkId(5)), 1.0);
  EXPECT_NE(table.fingerprint(), healthy);
  table.remove(first);
  table.remove(second);
  EXPECT_EQ(table.fingerprint(), healthy);
}

}  // namespace
}  // namespace bonescan
