// Offload statistics, tunnel tables, upcall and port listings.
#include "detectors/backend_ovs/parse/offload_stats.h"
#include "detectors/backend_ovs/parse/tunnel_tables.h"
#include "detectors/backend_ovs/parse/upcall_stats.h"
#include "tests/support/tool_output.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::backend_ovs {
namespace {

using fakes::expect_error;
using fakes::good;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(OffloadStats, AreKeysAndValuesInTotalAndForEachThread) {
  const auto stats = good(parse_offload_stats(fakes::tool_output("offload_stats.netdev.txt")));
  ASSERT_THAT(stats, SizeIs(12));
  EXPECT_EQ(find_offload_stat(stats, "Total", "Inserted offloads"), 0U);
  EXPECT_EQ(find_offload_stat(stats, "Total", "Cumulative Average latency (us)"), 16932U);
  EXPECT_EQ(find_offload_stat(stats, "0", "Exponential Latency stddev (us)"), 6273U);
  EXPECT_FALSE(find_offload_stat(stats, "1", "Inserted offloads"));
  for (const char* session :
       {"lab.dummy_dummy.txt", "lab.dummy_netdev.txt", "lab.dummy_override.txt"}) {
    EXPECT_THAT(good(parse_offload_stats(fakes::tool_lines(session, 26, 38))), SizeIs(12))
        << session;
  }
}

TEST(OffloadStats, TakeTheLayoutOfOtherVersions) {
  const auto stats = good(parse_offload_stats("HW Offload stats:\n  Enqueued offloads: 3\n"));
  EXPECT_EQ(find_offload_stat(stats, "", "Enqueued offloads"), 3U);
}

TEST(OffloadStats, AreUnavailableWhereNothingIsOffloaded) {
  expect_error(parse_offload_stats(fakes::tool_output("offload_stats.host_a_refused.txt")),
               ErrorCode::kUnavailable,
               "retrieving offload statistics (Invalid argument)");
  expect_error(parse_offload_stats(fakes::tool_lines("lab.kernel_tc_none.txt", 46, 47)),
               ErrorCode::kUnavailable,
               "Operation not supported");
  expect_error(parse_offload_stats("\n\nhello\n"), ErrorCode::kInvalid, "3:1: expected");
}

std::vector<std::string> texts(const std::vector<TunnelRoute>& routes) {
  std::vector<std::string> all;
  for (const TunnelRoute& route : routes) {
    all.push_back(fmt::format("{} {} {} gw={} src={}{}",
                              route.origin,
                              route.prefix,
                              route.device,
                              route.gateway,
                              route.source,
                              route.local ? " local" : ""));
  }
  return all;
}

TEST(TunnelTables, AreReadFromThreeOutputsInOneFile) {
  const TunnelTables tables =
      good(parse_tunnel_tables(fakes::tool_output("tunnel_tables.three.txt")));
  ASSERT_THAT(tables.neighbours, SizeIs(1));
  EXPECT_EQ(tables.neighbours[0].ip, "10.60.8.12");
  EXPECT_EQ(tables.neighbours[0].mac, "04:3f:72:b0:00:01");
  EXPECT_EQ(tables.neighbours[0].bridge, "br-phy");
  EXPECT_THAT(texts(tables.routes),
              ElementsAre("Cached 127.0.0.1/32 lo gw= src=127.0.0.1 local",
                          "Cached 192.0.2.2/32 eth0 gw= src=192.0.2.2 local",
                          "Cached ::1/128 lo gw= src=::1 local",
                          "Cached fd00::2/128 eth0 gw= src=fd00::2 local",
                          "Cached fe80::5eff:fe00:5301/128 eth0 gw= "
                          "src=fe80::5eff:fe00:5301 local",
                          "Cached 127.0.0.0/8 lo gw= src=127.0.0.1 local",
                          "Cached 192.0.2.0/24 eth0 gw= src=192.0.2.2",
                          "User 10.60.8.0/24 br-phy gw= src=10.60.8.11",
                          "Cached 0.0.0.0/0 eth0 gw=192.0.2.1 src=192.0.2.2",
                          "Cached fd00::/64 eth0 gw= src=fd00::2",
                          "Cached fe80::/64 eth0 gw= src=fe80::5eff:fe00:5301",
                          "Cached ::/0 eth0 gw=fd00::1 src=fd00::2"));
  ASSERT_THAT(tables.ports, SizeIs(4));
  EXPECT_EQ(tables.ports[1].name, "vxlan_sys_4789");
  EXPECT_EQ(tables.ports[1].number, 4789U);
  ASSERT_NE(find_field(tables.ports[1].match, "ipv4.dst"), nullptr);
  EXPECT_EQ(find_field(tables.ports[1].match, "ipv4.dst")->value, "10.60.8.11");
}

TEST(TunnelTables, AreReadOneByOne) {
  const auto neighbours =
      good(parse_tunnel_neighbours(fakes::tool_output("tunnel_tables.host_a_neighbours.txt")));
  ASSERT_THAT(neighbours, SizeIs(1));
  EXPECT_EQ(neighbours[0].ip, "172.30.0.2");
  EXPECT_EQ(neighbours[0].bridge, "br-ul");
  const auto routes =
      good(parse_tunnel_routes(fakes::tool_output("tunnel_tables.host_a_routes.txt")));
  ASSERT_THAT(routes, SizeIs(9));
  EXPECT_EQ(texts(routes)[7], "Cached 172.30.0.0/24 br-ul gw= src=172.30.0.1");
  const auto ports = good(parse_tunnel_ports(fakes::tool_output("tunnel_tables.host_a_ports.txt")));
  ASSERT_THAT(ports, SizeIs(4));
  EXPECT_EQ(ports[3].number, 4U);
}

TEST(TunnelTables, MayBeEmpty) {
  EXPECT_THAT(good(parse_tunnel_neighbours("IP      MAC      Bridge\n=======\n")), IsEmpty());
  EXPECT_THAT(good(parse_tunnel_routes("Route Table:\n")), IsEmpty());
  EXPECT_THAT(good(parse_tunnel_ports("Listening ports:\n")), IsEmpty());
}

TEST(TunnelTables, SayWhereAndWhatIsWrong) {
  expect_error(parse_tunnel_neighbours("10.0.0.1 x br"), ErrorCode::kInvalid, "1:1: expected");
  expect_error(parse_tunnel_routes("Cached: 10.0.0.0/8"), ErrorCode::kInvalid, "PREFIX dev DEVICE");
  expect_error(parse_tunnel_routes("10.0.0.0/8 dev x"), ErrorCode::kInvalid, "\"Cached: PREFIX");
  expect_error(parse_tunnel_ports("\nvx (a) : "), ErrorCode::kInvalid, "2:1: expected \"NAME");
  expect_error(parse_tunnel_tables("10.0.0.1 x br"), ErrorCode::kInvalid, "header of a tunnel");
  expect_error(parse_tunnel_neighbours("ovs-appctl: cannot connect"), ErrorCode::kUnavailable, "");
}

TEST(UpcallStats, StartWithALimitOfTenThousand) {
  const auto stats = good(parse_upcall_show(fakes::tool_lines("upcall_stats.three.txt", 1, 6)));
  ASSERT_THAT(stats, SizeIs(1));
  EXPECT_EQ(stats[0].datapath, "dummy@ovs-dummy");
  EXPECT_EQ(stats[0].flows, 0U + 1);
  EXPECT_EQ(stats[0].flow_limit, 10000U);
  EXPECT_EQ(stats[0].dump_duration, std::chrono::milliseconds(1));
  EXPECT_TRUE(stats[0].ufid_enabled);
  EXPECT_FALSE(stats[0].offloaded_flows);
  ASSERT_THAT(stats[0].revalidators, SizeIs(1));
  EXPECT_EQ(stats[0].revalidators[0].thread, 5U);
}

TEST(UpcallStats, CountKeysApartFromFlows) {
  const auto stats =
      good(parse_upcall_show(fakes::tool_lines("upcall_stats.log_and_upcall.txt", 4, 99)));
  ASSERT_THAT(stats, SizeIs(1));
  EXPECT_EQ(stats[0].flows, 7U);
  EXPECT_EQ(stats[0].max_flows, 117U);
  EXPECT_EQ(stats[0].flow_limit, 2125U) << "dumps of 1063 ms have lowered it";
  EXPECT_EQ(stats[0].offloaded_flows, 525U);
  ASSERT_THAT(stats[0].revalidators, SizeIs(3));
  EXPECT_EQ(stats[0].revalidators[1].keys, 3625U);
  const auto host =
      good(parse_upcall_show(fakes::tool_output("upcall_stats.host_a_upcall_show.txt")));
  ASSERT_THAT(host, SizeIs(1));
  EXPECT_EQ(host[0].average_flows, 8U);
}

std::vector<std::string> texts(const std::vector<DatapathPort>& ports) {
  std::vector<std::string> all;
  for (const DatapathPort& port : ports) {
    all.push_back(fmt::format("{} {} {} {}", port.number, port.name, port.type, port.options));
  }
  return all;
}

TEST(DatapathShow, NamesThePortsOfTheDatapath) {
  const auto shows = good(parse_datapath_show(fakes::tool_lines("upcall_stats.three.txt", 7, 15)));
  ASSERT_THAT(shows, SizeIs(1));
  EXPECT_EQ(shows[0].hit, 7U);
  EXPECT_EQ(shows[0].missed, 1U);
  EXPECT_THAT(texts(shows[0].ports),
              ElementsAre("0 ovs-dummy dummy-internal ",
                          "1 p0 dummy ifindex=1100",
                          "2 br-phy dummy-internal ",
                          "3 pf0vf0 dummy ifindex=1101",
                          "4 br-int dummy-internal ",
                          "4789 vxlan_sys_4789 vxlan packet_type=ptap"));
}

TEST(DatapathShow, PassesOverStatisticsAndCaches) {
  const auto host =
      good(parse_datapath_show(fakes::tool_output("upcall_stats.host_a_dpctl_show.txt")));
  ASSERT_THAT(host, SizeIs(1));
  EXPECT_EQ(host[0].datapath, "netdev@ovs-netdev");
  EXPECT_EQ(host[0].flows, 8U);
  EXPECT_THAT(texts(host[0].ports),
              ElementsAre("0 ovs-netdev tap ",
                          "1 br-ul tap ",
                          "2 ulA  ",
                          "3 br-int tap ",
                          "4 vxlan_sys_4789 vxlan packet_type=ptap",
                          "5 pA  "));
  const auto kernel =
      good(parse_datapath_show(fakes::tool_lines("lab.kernel_tc_none.txt", 36, 45)));
  ASSERT_THAT(kernel, SizeIs(1));
  EXPECT_EQ(kernel[0].missed, 6U);
  EXPECT_THAT(texts(kernel[0].ports),
              ElementsAre("0 ovs-system internal ", "1 br0 internal ", "2 p1  ", "3 p2  "));
}

TEST(DpifShow, JoinsOpenFlowNumbersWithDatapathNumbers) {
  const auto shows = good(parse_dpif_show(fakes::tool_output("upcall_stats.host_a_dpif_show.txt")));
  ASSERT_THAT(shows, SizeIs(1));
  EXPECT_EQ(shows[0].hit, 79U);
  EXPECT_EQ(shows[0].missed, 25U);
  ASSERT_THAT(shows[0].bridges, SizeIs(2));
  EXPECT_EQ(shows[0].bridges[0].name, "br-int");
  const BridgePort& tunnel = shows[0].bridges[0].ports.at(2);
  EXPECT_EQ(tunnel.name, "vx0");
  EXPECT_EQ(tunnel.openflow_number, 10U);
  EXPECT_EQ(tunnel.datapath_number, 4U);
  EXPECT_EQ(tunnel.type, "vxlan");
  EXPECT_EQ(tunnel.options, "key=flow, remote_ip=172.30.0.2");
  const auto dummy = good(parse_dpif_show(fakes::tool_lines("upcall_stats.three.txt", 16, 99)));
  ASSERT_THAT(dummy, SizeIs(1));
  EXPECT_EQ(dummy[0].bridges.at(0).ports.at(0).openflow_number, 65534U);
  EXPECT_EQ(dummy[0].bridges.at(1).ports.at(1).options, "ifindex=1100");
}

TEST(DpifShow, TakesPortsThatTheDatapathDoesNotHave) {
  const auto shows =
      good(parse_dpif_show("system@ovs-system: hit:0 missed:0\n  br0:\n"
                           "    patch1 3/none: (patch: peer=patch2)\n"));
  EXPECT_FALSE(shows.at(0).bridges.at(0).ports.at(0).datapath_number);
}

TEST(DatapathState, SaysWhereAndWhatIsWrong) {
  expect_error(parse_upcall_show("  flows : (current 1)"), ErrorCode::kInvalid, "\"DATAPATH:\"");
  expect_error(parse_upcall_show("a:\n  flows : 3"), ErrorCode::kInvalid, "2:1: expected");
  expect_error(parse_upcall_show("a:\n  dump duration : x"), ErrorCode::kInvalid, "2:19: expected");
  expect_error(parse_datapath_show("a:\n  port x: y"), ErrorCode::kInvalid, "port NUMBER: NAME");
  expect_error(parse_datapath_show("a:\n  lookups: y"), ErrorCode::kInvalid, "lookups: hit:N");
  expect_error(parse_dpif_show("a:"), ErrorCode::kInvalid, "DATAPATH: hit:N missed:N");
  expect_error(
      parse_dpif_show("a: hit:1 missed:2\n    p 1/2: (x)"), ErrorCode::kInvalid, "BRIDGE:");
  expect_error(parse_dpif_show("a: hit:1 missed:2\n  b:\n    p 1"), ErrorCode::kInvalid, "3:1:");
  expect_error(parse_dpif_show("ovs-appctl: no"), ErrorCode::kUnavailable, "ovs-appctl: no");
}

}  // namespace
}  // namespace bonescan::backend_ovs
