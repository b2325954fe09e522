#include "detectors/backend_ovs/traced_packet.h"

#include "detectors/backend_ovs/command_gate.h"
#include "detectors/backend_ovs/datapath_exit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace bonescan::backend_ovs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(DatapathExit, ReadsTheUserspaceTunnel) {
  const DatapathExit exit = read_datapath_exit(
      "tnl_push(tnl_port(vxlan_sys_4789),header(size=50,type=4,eth(dst=aa:f4:ff:d8:13:43,"
      "src=a2:61:0f:5c:85:48,dl_type=0x0800),ipv4(src=172.30.0.1,dst=172.30.0.2,proto=17,tos=0,"
      "ttl=64,frag=0x4000),udp(src=0,dst=4789,csum=0x0),vxlan(flags=0x8000000,vni=0x64)),"
      "out_port(br-ul)),ulA");
  ASSERT_EQ(exit.tunnels.size(), 1U);
  EXPECT_EQ(exit.tunnels[0].source, "172.30.0.1");
  EXPECT_EQ(exit.tunnels[0].target, "172.30.0.2");
  EXPECT_EQ(exit.tunnels[0].key, 100U);
  EXPECT_THAT(exit.ports, ElementsAre("ulA"));
  // The outer header is no rewrite of the packet.
  EXPECT_EQ(exit.edits.eth_target, "");
  EXPECT_EQ(exit.edits.ip_target, "");
}

TEST(DatapathExit, ReadsTheKernelTunnelAndRewrites) {
  const DatapathExit exit = read_datapath_exit(
      "set(eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02)),set(ipv4(ttl=63)),"
      "set(tunnel(tun_id=0x1389,src=10.0.0.1,dst=10.0.0.2,ttl=64,tp_dst=4789,flags(df|key))),"
      "vxlan_sys_4789");
  ASSERT_EQ(exit.tunnels.size(), 1U);
  EXPECT_EQ(exit.tunnels[0].source, "10.0.0.1");
  EXPECT_EQ(exit.tunnels[0].target, "10.0.0.2");
  EXPECT_EQ(exit.tunnels[0].key, 0x1389U);
  EXPECT_EQ(exit.edits.eth_source, "02:00:00:00:00:01");
  EXPECT_EQ(exit.edits.eth_target, "02:00:00:00:00:02");
  EXPECT_THAT(exit.ports, ElementsAre("vxlan_sys_4789"));
}

TEST(DatapathExit, LooksInsideClones) {
  const DatapathExit exit = read_datapath_exit(
      "clone(tnl_push(tnl_port(4),header(size=50,ipv4(src=1.1.1.1,dst=2.2.2.2),vxlan(vni=0x7)),"
      "out_port(1)),2),5");
  ASSERT_EQ(exit.tunnels.size(), 1U);
  EXPECT_EQ(exit.tunnels[0].target, "2.2.2.2");
  EXPECT_EQ(exit.tunnels[0].key, 7U);
  EXPECT_THAT(exit.ports, ElementsAre("5"));
}

TEST(DatapathExit, FindsNoWayOut) {
  for (const char* actions : {"drop",
                              "",
                              "recirc(0x1)",
                              "userspace(pid=1,slow_path(action))",
                              "ct(commit,zone=5)",
                              "set(tunnel(",
                              "pA)"}) {
    SCOPED_TRACE(actions);
    const DatapathExit exit = read_datapath_exit(actions);
    EXPECT_THAT(exit.ports, IsEmpty());
    EXPECT_TRUE(exit.tunnels.empty());
  }
}

TEST(TracedPacket, SaysWhatIsKnown) {
  InnerPacket packet{"", "", "192.168.50.1", "192.168.50.2", 0};
  EXPECT_EQ(flow_text(packet, 1),
            "in_port=1,udp,nw_src=192.168.50.1,nw_dst=192.168.50.2,nw_ttl=64,udp_dst=4791");
  packet.udp_source = 49193;
  packet.eth_source = "02:00:00:00:00:01";
  packet.eth_target = "02:00:00:00:00:02";
  const TunnelExit tunnel{"172.30.0.1", "172.30.0.2", 100};
  EXPECT_EQ(flow_text(packet, 10, &tunnel),
            "in_port=10,tun_id=100,tun_src=172.30.0.1,tun_dst=172.30.0.2,udp,"
            "dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,nw_src=192.168.50.1,"
            "nw_dst=192.168.50.2,nw_ttl=64,udp_src=49193,udp_dst=4791");
  const TunnelExit keyless{"fd00::1", "fd00::2", std::nullopt};
  EXPECT_EQ(flow_text({"", "", "fd01::1", "fd01::2", 0}, 10, &keyless),
            "in_port=10,tun_ipv6_src=fd00::1,tun_ipv6_dst=fd00::2,udp6,ipv6_src=fd01::1,"
            "ipv6_dst=fd01::2,nw_ttl=64,udp_dst=4791");
}

TEST(TracedPacket, TakesAddressesOnlyInTheirForm) {
  EXPECT_EQ(canonical_ip("10.0.0.1").value(), "10.0.0.1");
  EXPECT_EQ(canonical_ip("::ffff:10.0.0.1").value(), "10.0.0.1");
  EXPECT_EQ(canonical_ip("FD00:0:0::1").value(), "fd00::1");
  for (const char* bad : {"", "10.0.0", "10.0.0.1/24", "10.0.0.1,in_port=2", "host-a"}) {
    EXPECT_FALSE(canonical_ip(bad)) << bad;
  }
  EXPECT_EQ(canonical_mac("02:00:AA:00:00:0b").value(), "02:00:aa:00:00:0b");
  for (const char* bad : {"", "02:00:aa:00:00", "02-00-aa-00-00-0b", "02:00:aa:00:00:0g"}) {
    EXPECT_FALSE(canonical_mac(bad)) << bad;
  }
}

TEST(CommandBudget, LetsABurstThroughAndThenTheRate) {
  const auto start = std::chrono::steady_clock::time_point();
  CommandBudget budget(10.0, 3.0, start);
  const auto ms = [](double value) { return from_seconds(value * 1e-3); };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(budget.take(start), ms(0));
  }
  EXPECT_EQ(budget.take(start), ms(100));
  EXPECT_EQ(budget.take(start), ms(200));
  // Two were borrowed; after 300 ms one is left over.
  EXPECT_EQ(budget.take(start + ms(300)), ms(0));
  EXPECT_EQ(budget.take(start + ms(300)), ms(100));
  // The bucket holds no more than its burst.
  const auto later = start + std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(budget.take(later), ms(0));
  }
  EXPECT_GT(budget.take(later), ms(99));
}

}  // namespace
}  // namespace bonescan::backend_ovs
