#include "detectors/backend_ovs/parse/datapath_flows.h"

#include "tests/support/tool_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::backend_ovs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Flows = std::vector<DatapathFlow>;

Flows parsed(const std::string& text) {
  const Expected<Flows> flows = parse_datapath_flows(text);
  EXPECT_TRUE(flows) << flows.error().detail;
  return flows.value_or(Flows{});
}

Flows fixture(const std::string& name) {
  return parsed(fakes::tool_output("datapath_flows." + name + ".txt"));
}

std::string value_of(const DatapathFlow& flow, std::string_view key) {
  const MatchField* field = find_field(flow.match, key);
  return field == nullptr ? "(none)"
                          : field->value + (field->mask.empty() ? "" : "/" + field->mask);
}

/// Everything but the match, on one line.
std::string summary(const DatapathFlow& flow) {
  constexpr std::array<std::string_view, 3> kOffloaded = {"", " partial", " yes"};
  const std::string used =
      flow.used ? fmt::format("{}ms", flow.used->count() / 1'000'000) : std::string("never");
  return fmt::format("{} {}p {}b {}{}{}{} -> {}",
                     flow.in_port,
                     flow.packets,
                     flow.bytes,
                     used,
                     flow.datapath.empty() ? "" : " ",
                     flow.datapath,
                     kOffloaded[static_cast<std::size_t>(flow.offloaded)],
                     fmt::join(flow.action_list, " | "));
}

std::vector<std::string> summaries(const Flows& flows) {
  std::vector<std::string> all;
  for (const DatapathFlow& flow : flows) {
    all.push_back(summary(flow));
  }
  return all;
}

const std::string kPush =
    "tnl_push(tnl_port(4),header(size=50,type=4,eth(dst=0e:c6:ac:b1:51:4c,src=5e:9f:a4:66:19:49,"
    "dl_type=0x0800),ipv4(src=172.30.0.1,dst=172.30.0.2,proto=17,tos=0,ttl=64,frag=0x4000),"
    "udp(src=0,dst=4789,csum=0x0),vxlan(flags=0x8000000,vni=0x64)),out_port(1))";

TEST(DatapathFlows, ReadsEveryPartOfAVerboseLine) {
  const Flows flows = fixture("m_drop_active");
  ASSERT_THAT(flows, SizeIs(1));
  const DatapathFlow& flow = flows[0];
  EXPECT_EQ(flow.line, 2U);
  EXPECT_EQ(flow.ufid, "1768df94-e590-4132-a4b6-b0f238ebd8f0");
  EXPECT_EQ(summary(flow), "pf0vf0 7p 742b 1012ms ovs -> drop");
  EXPECT_EQ(flow.actions, "drop") << "dp-extra-info is no action";
  std::vector<std::string> match;
  for (const MatchField& field : flow.match) {
    match.push_back(to_string(field));
  }
  EXPECT_THAT(match,
              ElementsAre("skb_priority=0/0",
                          "skb_mark=0/0",
                          "ct_state=0/0",
                          "ct_zone=0/0",
                          "ct_mark=0/0",
                          "ct_label=0/0",
                          "recirc_id=0",
                          "dp_hash=0/0",
                          "in_port=pf0vf0",
                          "packet_type.ns=0",
                          "packet_type.id=0",
                          "eth.src=02:00:aa:00:00:0b",
                          "eth.dst=02:00:aa:00:00:0c",
                          "eth_type=0x0800",
                          "ipv4.src=192.168.7.11/0.0.0.0",
                          "ipv4.dst=192.168.7.12/0.0.0.0",
                          "ipv4.proto=17/0",
                          "ipv4.tos=0x1a/0x3",
                          "ipv4.ttl=64/0",
                          "ipv4.frag=no",
                          "udp.src=49193/0",
                          "udp.dst=4791/0"));
}

TEST(DatapathFlows, SplitsActionsAtTheTopLevelOnly) {
  const Flows flows = fixture("m_names_vxlan");
  ASSERT_THAT(flows, SizeIs(1));
  ASSERT_THAT(flows[0].action_list, SizeIs(2));
  EXPECT_THAT(flows[0].action_list[0], HasSubstr("tnl_push(tnl_port(vxlan_sys_4789),header("));
  EXPECT_THAT(flows[0].action_list[0], HasSubstr("vxlan(flags=0x8000000,vni=0x1389)),out_port("));
  EXPECT_EQ(flows[0].action_list[1], "p0");
}

TEST(DatapathFlows, TakesNumbersOfPortsAndNoDatapathWithoutM) {
  const Flows flows = fixture("plain_vxlan");
  ASSERT_THAT(flows, SizeIs(1));
  EXPECT_EQ(flows[0].ufid, "");
  EXPECT_EQ(flows[0].datapath, "");
  EXPECT_EQ(flows[0].in_port, "1");
  EXPECT_EQ(flows[0].action_list.back(), "3");
  EXPECT_EQ(value_of(flows[0], "ipv4.tos"), "0x1a/0x3");
  EXPECT_EQ(value_of(flows[0], "ipv4.src"), "(none)");
}

TEST(DatapathFlows, TakesAnEmptyDumpForAnAnswer) {
  EXPECT_THAT(fixture("offloaded_empty"), IsEmpty());
  for (const char* type : {"dpdk", "offloaded", "partially_offloaded", "tc"}) {
    EXPECT_THAT(fixture(fmt::format("host_a_type_{}", type)), IsEmpty()) << type;
  }
}

TEST(DatapathFlows, HandsOnTheWordsOfTheToolThatRefuses) {
  const Expected<Flows> flows =
      parse_datapath_flows(fakes::tool_file("datapath_flows.bad_type.txt"));
  ASSERT_FALSE(flows);
  EXPECT_EQ(flows.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(flows.error().detail, HasSubstr("Failed to parse type (bogus)"));
}

TEST(DatapathFlows, TellsOffloadedFromPartialAndOtherDatapaths) {
  EXPECT_THAT(summaries(fixture("m_partial")),
              ElementsAre("p1 9p 954b 120ms ovs partial -> p2", "p1 1p 106b 0ms dpdk yes -> p2"));
}

TEST(DatapathFlows, TellsHardwareFromTcSoftwareFromKernelFromSlowPath) {
  const Flows flows = fixture("m_tc_geneve");
  EXPECT_THAT(
      summaries(flows),
      ElementsAre("genev_sys_6081 3612p 303408b 320ms tc yes -> "
                  "set(eth(src=02:00:31:00:22:00,dst=02:2a:5e:a9:30:a8)) | set(ipv4(ttl=62)) | "
                  "ct(zone=1,nat) | recirc(0x21)",
                  "enp6s0f0 36p 3024b 320ms tc -> "
                  "set(eth(src=02:17:21:62:55:20,dst=02:17:21:62:55:10)) | "
                  "set(ipv4(dst=10.19.20.20,ttl=62)) | ct(zone=1,nat) | recirc(0x20)",
                  "pf0vf3 120p 15120b 4ms ovs -> vxlan_sys_4789",
                  "pf0vf3 33p 1980b 4045ms ovs -> userspace(pid=4294149776,slow_path(action))"));
  EXPECT_EQ(value_of(flows[0], "tunnel.tun_id"), "0x5");
  EXPECT_EQ(value_of(flows[0], "tunnel.geneve"),
            "{class=0x102,type=0x80,len=4,0x10002/0x7fffffff}");
  EXPECT_EQ(value_of(flows[0], "tunnel.flags"), "+key");
  EXPECT_EQ(value_of(flows[0], "ipv4.src"), "10.19.20.16/255.255.255.240");
  EXPECT_EQ(value_of(flows[3], "arp.op"), "1/0xff");
}

TEST(DatapathFlows, TakesAnyOrderOfKeysAndLargeCounters) {
  const Flows flows = fixture("plain_tc");
  ASSERT_THAT(flows, SizeIs(4));
  EXPECT_EQ(flows[0].in_port, "4");
  EXPECT_EQ(value_of(flows[0], "ct_state"), "-new-inv-trk");
  EXPECT_EQ(summary(flows[1]), "2 2491914653p 3074457645572b 640ms -> 1");
  EXPECT_EQ(summary(flows[3]), "2 4p 1184b 8370ms -> drop");
  EXPECT_EQ(value_of(flows[3], "recirc_id"), "(none)");
}

TEST(DatapathFlows, ReadsTunnelsOfTheKernelDatapath) {
  const Flows flows = fixture("m_kernel_vxlan");
  EXPECT_THAT(summaries(flows),
              ElementsAre("pf0vf0 41021p 5086604b 410ms tc yes -> set(tunnel(tun_id=0x1389,"
                          "src=10.60.8.11,dst=10.60.8.12,ttl=64,tp_dst=4789,flags(key))) | "
                          "vxlan_sys_4789",
                          "vxlan_sys_4789 41019p 5086356b 410ms tc yes -> pf0vf0"));
  EXPECT_EQ(value_of(flows[1], "tunnel.ttl"), "0/0");
}

TEST(DatapathFlows, ReadsConnectionTrackingVlanFragmentsAndPartialMasks) {
  const Flows flows = fixture("m_rich");
  EXPECT_THAT(
      summaries(flows),
      ElementsAre("pf0vf1 0p 0b never ovs -> ct(commit,zone=7) | pf0vf0",
                  "pf0vf1 0p 0b never ovs -> push_vlan(vid=10,pcp=0) | pf0vf0",
                  "pf0vf1 0p 0b never ovs -> set(eth(dst=02:00:aa:00:00:99)) | "
                  "set(ipv4(ttl=63)) | pf0vf0 | vxlan0",
                  "pf0vf1 0p 0b never ovs -> userspace(pid=0,controller(reason=1,dont_send=0,"
                  "continuation=0,recirc_id=2,rule_cookie=0,controller_id=0,max_len=65535))",
                  "pf0vf1 0p 0b never ovs -> drop"));
  EXPECT_EQ(value_of(flows[0], "ct_state"), "0x21/0x21");
  EXPECT_EQ(value_of(flows[0], "ct_tuple4.tp_dst"), "18515/0");
  EXPECT_EQ(value_of(flows[1], "ipv6.src"), "fd00::e/::");
  EXPECT_EQ(value_of(flows[4], "udp.dst"), "4791/0xf000");
  EXPECT_EQ(value_of(flows[4], "ipv4.frag"), "first");
}

TEST(DatapathFlows, TakesZeroMasksForWildcards) {
  const Flows flows = fixture("m_rich");
  struct Case {
    const char* key;
    std::size_t flow;
    bool wildcard;
  };

  const Case cases[] = {{"ct_zone", 0, true},
                        {"ct_state", 0, false},
                        {"eth.src", 1, true},
                        {"ipv6.src", 1, true},
                        {"ipv6.label", 1, true},
                        {"udp.src", 4, true},
                        {"udp.dst", 4, false},
                        {"eth_type", 0, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.key);
    const MatchField* field = find_field(flows[c.flow].match, c.key);
    ASSERT_NE(field, nullptr);
    EXPECT_EQ(is_wildcard(*field), c.wildcard);
  }
}

TEST(DatapathFlows, NamesPortsWithMWhetherOrNotTheyAreAskedFor) {
  const auto expected = ElementsAre(HasSubstr("pA 6p 480b 3149ms ovs -> tnl_push("),
                                    "ulA 2p 140b 3912ms ovs -> br-ul",
                                    "ulA 23p 3228b 173ms ovs -> tnl_pop(vxlan_sys_4789)",
                                    HasSubstr("pA 9p 882b 173ms ovs -> tnl_push("),
                                    "vxlan_sys_4789 9p 882b 173ms ovs -> pA",
                                    "vxlan_sys_4789 2p 140b 3405ms ovs -> pA",
                                    "br-ul 2p 140b 3149ms ovs -> ulA",
                                    "ulA 2p 140b 2377ms ovs -> br-ul");
  EXPECT_THAT(summaries(fixture("host_a_m")), expected);
  for (const char* same : {"names_m", "type_all", "type_ovs", "type_non_offloaded"}) {
    const Flows flows = fixture(fmt::format("host_a_{}", same));
    EXPECT_THAT(flows, SizeIs(8)) << same;
    EXPECT_EQ(flows[4].in_port, "vxlan_sys_4789") << same;
  }
}

TEST(DatapathFlows, ReadsTheSameTablesWithoutM) {
  const Flows flows = fixture("host_a_plain");
  EXPECT_THAT(summaries(flows),
              ElementsAre("5 6p 480b 3168ms -> " + kPush + " | 2",
                          "2 2p 140b 3931ms -> 1",
                          "2 23p 3228b 192ms -> tnl_pop(4)",
                          "5 9p 882b 192ms -> " + kPush + " | 2",
                          "4 9p 882b 192ms -> 5",
                          "4 2p 140b 3424ms -> 5",
                          "1 2p 140b 3168ms -> 2",
                          "2 2p 140b 2396ms -> 1"));
}

TEST(DatapathFlows, ReadsOneFlowByItsUfid) {
  const Flows flows = fixture("host_a_get_flow");
  ASSERT_THAT(flows, SizeIs(1));
  EXPECT_EQ(flows[0].ufid, "bd4bc202-34be-49ac-99ed-2f94e101fc41");
  EXPECT_EQ(flows[0].line, 1U) << "get-flow prints no banner";
  EXPECT_EQ(value_of(flows[0], "nd.target"), "fe80::1c01:1dff:fe8e:1368/::");
}

TEST(DatapathFlows, ReadsTheOtherHost) {
  const Flows flows = fixture("host_b_m");
  ASSERT_THAT(flows, SizeIs(8));
  EXPECT_EQ(flows[0].ufid, "51da281e-d57e-40d3-bec6-da947170bc11");
  EXPECT_EQ(value_of(flows[0], "tunnel.src"), "172.30.0.1");
  EXPECT_EQ(value_of(flows[0], "tunnel.tp_src"), "36607/0");
}

TEST(DatapathFlows, ReadsTheKernelDatapathWithTc) {
  for (const char* session : {"lab.kernel_tc_none.txt", "lab.kernel_tc_skip_hw.txt"}) {
    SCOPED_TRACE(session);
    for (const auto& [first, last] : {std::pair(12, 17), std::pair(20, 25), std::pair(28, 33)}) {
      const Flows flows = parsed(fakes::tool_lines(
          session, static_cast<std::size_t>(first), static_cast<std::size_t>(last)));
      ASSERT_THAT(flows, SizeIs(6));
      for (const DatapathFlow& flow : flows) {
        EXPECT_EQ(flow.datapath, "tc");
        EXPECT_EQ(flow.offloaded, Offloaded::kAbsent);
      }
      EXPECT_EQ(flows[0].action_list, std::vector<std::string>{"p2"});
      EXPECT_EQ(flows[3].in_port, "p2");
      EXPECT_FALSE(flows[2].used) << "ARP has not been seen";
    }
    EXPECT_THAT(parsed(fakes::tool_lines(session, 35, 35)), SizeIs(1));
  }
  EXPECT_EQ(summary(parsed(fakes::tool_lines("lab.kernel_tc_none.txt", 12, 12))[0]),
            "p1 23p 1932b 2ms tc -> p2");
}

TEST(DatapathFlows, ReadsTheDummyDatapath) {
  for (const char* session :
       {"lab.dummy_dummy.txt", "lab.dummy_netdev.txt", "lab.dummy_override.txt"}) {
    SCOPED_TRACE(session);
    for (const std::size_t first : {11, 16, 19, 24}) {
      const Flows flows = parsed(fakes::tool_lines(session, first, first + 1));
      ASSERT_THAT(flows, SizeIs(1));
      EXPECT_EQ(flows[0].datapath, "ovs");
      EXPECT_EQ(flows[0].packets, 2U);
      EXPECT_EQ(flows[0].actions, "p2");
    }
  }
}

TEST(DatapathFlows, ReadsADropAmongForwardingFlows) {
  const Flows flows = parsed(fakes::tool_lines("lab.rdma_over_tc.txt", 11, 13));
  EXPECT_THAT(
      summaries(flows),
      ElementsAre("p1 4p 464b 320ms -> drop", "p1 1p 76b 1930ms -> p2", "p1 0p 0b never -> p2"));
  EXPECT_EQ(value_of(flows[0], "udp.dst"), "4791");
  EXPECT_EQ(value_of(flows[0], "eth"), "") << "eth() takes any address";
}

TEST(DatapathFlows, SkipsTheBannerOfEveryThread) {
  const std::string flow =
      "in_port(1),eth_type(0x0800), packets:1, bytes:2, used:0.5s, actions:2\n";
  const Flows flows = parsed("flow-dump from pmd on cpu core: 1\n" + flow +
                             "flow-dump from pmd on cpu core: 3\r\n" + flow);
  ASSERT_THAT(flows, SizeIs(2));
  EXPECT_EQ(flows[1].line, 4U);
}

TEST(DatapathFlows, ReadsFlagsAfterUsed) {
  const Flows flows =
      parsed("in_port(1), packets:1, bytes:2, used:0.5s, flags:SFP., dp:ovs, actions:2");
  ASSERT_THAT(flows, SizeIs(1));
  EXPECT_EQ(flows[0].tcp_flags, "SFP.");
  EXPECT_EQ(flows[0].datapath, "ovs");
}

TEST(DatapathFlows, SayWhereAndWhatIsWrong) {
  struct Case {
    const char* name;
    std::string text;
    const char* error;
  };

  const std::string deep = std::string(100, '(') + std::string(100, ')');
  const Case cases[] = {
      {"no flow at all", "hello\n", "1:1: expected a flow with \"packets:\" and \"actions:\""},
      {"cut off", "in_port(1), packets:3, bytes:4", "1:1: expected a flow with"},
      {"second line", "\nin_port(1), packets:x, actions:2", "2:13: expected packets:NUMBER"},
      {"used", "in_port(1), packets:1, used:soon, actions:2", "1:24: expected used:never"},
      {"offloaded", "in_port(1), packets:1, offloaded:so, actions:2", "1:24: expected offloaded:"},
      {"brackets", "in_port(1, packets:1, actions:2", "1:1: expected matching brackets"},
      {"too deep", "a" + deep + ", packets:1, actions:2", "expected matching brackets"},
      {"deep match",
       "a(b(c(d(e(f(g(h(i(1))))))))), packets:1, actions:2",
       "1:17: expected a short"},
      {"binary", std::string("\x01\xFF\0z", 4), "found '\\x01\\xff\\x00z'"},
      {"large number", "in_port(1), packets:99999999999999999999, actions:2", "1:13: expected"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Expected<Flows> flows = parse_datapath_flows(c.text);
    ASSERT_FALSE(flows);
    EXPECT_EQ(flows.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(flows.error().detail, HasSubstr(c.error));
  }
}

}  // namespace
}  // namespace bonescan::backend_ovs
