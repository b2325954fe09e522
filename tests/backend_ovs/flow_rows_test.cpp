#include "detectors/backend_ovs/flow_rows.h"

#include "detectors/backend_ovs/action_words.h"
#include "detectors/backend_ovs/packet_set.h"
#include "detectors/localize/table_diff.h"
#include "tests/support/tool_output.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::backend_ovs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

template <class Result>
typename Result::value_type good(Result result) {
  EXPECT_TRUE(result) << result.error().detail;
  return std::move(*result);
}

std::vector<DatapathFlow> entries(const std::string& text) {
  return good(parse_datapath_flows(text));
}

OpenflowTrace trace_of(const std::string& flow, const std::string& actions) {
  return good(parse_openflow_trace(fmt::format(
      "Flow: {}\n\nbridge(\"br0\")\n----\n 0. in_port=1, priority 32768\n    output:2\n\n"
      "Final flow: unchanged\nMegaflow: recirc_id=0\nDatapath actions: {}\n",
      flow,
      actions)));
}

PortNames lab_ports() {
  PortNames ports;
  for (const auto& show :
       good(parse_datapath_show(fakes::tool_output("upcall_stats.host_a_dpctl_show.txt")))) {
    ports.add(show);
  }
  for (const auto& show :
       good(parse_dpif_show(fakes::tool_output("upcall_stats.host_a_dpif_show.txt")))) {
    ports.add(show);
  }
  return ports;
}

/// br0 of the kernel lab: p1 and p2 are OpenFlow ports 1 and 2, datapath ports 2 and 3.
PortNames kernel_ports() {
  PortNames ports;
  for (const auto& show :
       good(parse_datapath_show(fakes::tool_lines("lab.kernel_tc_none.txt", 36, 45)))) {
    ports.add(show);
  }
  ports.add(good(parse_dpif_show("system@ovs-system: hit:0 missed:0\n  br0:\n    p1 1/2: (system)\n"
                                 "    p2 2/3: (system)\n"))
                .at(0));
  return ports;
}

const std::string kIcmp =
    "icmp,in_port=1,vlan_tci=0x0000,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,"
    "nw_src=192.168.50.1,nw_dst=192.168.50.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,icmp_type=8,"
    "icmp_code=0";

std::vector<TcFilter> kernel_filters() {
  return good(parse_tc_filters(fakes::tool_lines("lab.kernel_tc_none.txt", 49, 86)));
}

/// The filter of the lab that Open vSwitch does not know of; its listing does not print the
/// priority.
TcFilter foreign_drop(std::uint32_t pref = 1) {
  TcFilter filter =
      good(parse_tc_filters(fakes::tool_lines("lab.kernel_tc_none.txt", 108, 118))).at(0);
  filter.pref = pref;
  return filter;
}

FlowTables kernel_tables(const std::vector<TcFilter>& filters = kernel_filters()) {
  FlowTables tables;
  tables.datapath = entries(fakes::tool_lines("lab.kernel_tc_none.txt", 12, 17));
  tables.tc.emplace_back("p1", filters);
  return tables;
}

FlowTables kernel_tables_and(const TcFilter& more) {
  std::vector<TcFilter> filters = kernel_filters();
  filters.push_back(more);
  return kernel_tables(filters);
}

const FlowRowOptions kTc = {.offload = OffloadTable::kTc};

RowDiff judged(const OpenflowTrace& trace,
               const FlowTables& tables,
               const PortNames& ports,
               const FlowRowOptions& options = {}) {
  return compare(traced_row(trace, tables, ports, options).row);
}

TEST(PortNames, JoinNumbersAndNamesOfAllTools) {
  const PortNames ports = lab_ports();
  EXPECT_EQ(ports.of_datapath("5"), "pA");
  EXPECT_EQ(ports.of_datapath("4"), "vxlan_sys_4789");
  EXPECT_EQ(ports.of_datapath("vx0"), "vxlan_sys_4789") << "the bridge's name of the tunnel";
  EXPECT_EQ(ports.of_datapath("99"), "99");
  EXPECT_EQ(ports.of_datapath("drop"), "drop");
  EXPECT_EQ(ports.of_openflow("br-int", "1"), "pA");
  EXPECT_EQ(ports.of_openflow("br-ul", "1"), "ulA");
  EXPECT_EQ(ports.of_openflow("br-int", "10"), "vxlan_sys_4789");
  EXPECT_EQ(ports.of_openflow("br-int", "pA"), "pA");
  EXPECT_FALSE(ports.of_openflow("br-int", "77"));
}

TEST(PacketSet, OverlapsWhereBothMasksAgree) {
  struct Case {
    const char* name;
    const char* match;
    bool overlaps;
  };

  const Case cases[] = {
      {"everything", "eth_type(0x0800)", true},
      {"wildcarded value", "eth(src=00:00:00:00:00:09/00:00:00:00:00:00)", true},
      {"other type", "eth_type(0x86dd)", false},
      {"prefix", "ipv4(src=192.168.0.0/255.255.0.0)", true},
      {"other prefix", "ipv4(src=192.169.0.0/255.255.0.0)", false},
      {"other address", "ipv4(dst=192.168.50.3)", false},
      {"protocol", "ipv4(proto=17)", false},
      {"wildcarded protocol", "ipv4(proto=17/0)", true},
      {"ECN", "ipv4(tos=0x2/0x3)", false},
      {"DSCP", "ipv4(tos=0/0xfc)", true},
      {"type", "icmp(type=8)", true},
      {"other type of ICMP", "icmp(type=0)", false},
      {"recirculated", "recirc_id(0x1)", false},
      {"tunnel", "tunnel(tun_id=0x5)", true},
  };
  const PacketSet packets = packets_of_openflow(kIcmp);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto flows = entries(fmt::format("{}, packets:1, actions:2", c.match));
    EXPECT_EQ(overlap(packets, packets_of(flows.at(0))), c.overlaps);
    EXPECT_EQ(overlap(packets_of(flows.at(0)), packets), c.overlaps);
  }
}

TEST(PacketSet, ReadsTheWordsOfTc) {
  struct Case {
    const char* name;
    std::vector<MatchField> keys;
    bool overlaps;
    bool wider;
  };

  const Case cases[] = {
      {"type by name", {{"eth_type", "ipv4", ""}, {"ip_proto", "icmp", ""}}, true, false},
      {"other protocol", {{"ip_proto", "udp", ""}}, false, false},
      {"number", {{"ip_proto", "47", ""}}, false, false},
      {"prefix length", {{"src_ip", "192.168.0.0", "16"}}, true, false},
      {"long prefix", {{"dst_ip", "192.168.50.4", "30"}}, false, false},
      {"MAC with mask", {{"dst_mac", "02:00:00:00:00:00", "ff:ff:ff:00:00:00"}}, true, false},
      {"fragments", {{"ip_flags", "nofrag", ""}}, true, false},
      {"connection state", {{"ct_state", "+trk+est", ""}}, true, true},
  };
  const PacketSet packets = packets_of_openflow(kIcmp);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    TcFilter filter;
    filter.protocol = "ip";
    filter.kind = "flower";
    filter.keys = c.keys;
    const PacketSet set = packets_of(filter);
    EXPECT_EQ(overlap(packets, set), c.overlaps);
    EXPECT_EQ(set.is_wider, c.wider);
  }
  TcFilter u32;
  u32.protocol = "ip";
  u32.kind = "u32";
  EXPECT_TRUE(packets_of(u32).is_wider) << "its bytes are not read";
}

TEST(ActionWords, GiveTheSameTextForTheSameActions) {
  struct Case {
    const char* name;
    const char* left;
    const char* right;
    bool equal;
  };

  const std::string push =
      "tnl_push(tnl_port({}),header(size=50,type=4,vxlan(vni=0x64)),out_port({})),{}";
  const std::string numbers = fmt::format(fmt::runtime(push), 4, 1, 2);
  const std::string names = fmt::format(fmt::runtime(push), "vxlan_sys_4789", "br-ul", "ulA");
  const std::string elsewhere = fmt::format(fmt::runtime(push), "vxlan_sys_4789", "br-ul", "pA");
  const Case cases[] = {
      {"tunnel push", numbers.c_str(), names.c_str(), true},
      {"another port behind the push", numbers.c_str(), elsewhere.c_str(), false},
      {"tunnel pop", "tnl_pop(4)", "tnl_pop(vxlan_sys_4789)", true},
      {"order of fields",
       "set(tunnel(tun_id=0x64,dst=1.1.1.1,tp_dst=4789,flags(key))),4",
       "set(tunnel(dst=1.1.1.1,tun_id=100,tp_dst=4789,flags(df|key))),vxlan_sys_4789",
       true},
      {"another tunnel id",
       "set(tunnel(tun_id=0x64,dst=1.1.1.1)),4",
       "set(tunnel(tun_id=0x65,dst=1.1.1.1)),4",
       false},
      {"a field that only one side prints",
       "set(tunnel(tun_id=1,dst=1.1.1.1)),4",
       "set(tunnel(tun_id=1,src=2.2.2.2,dst=1.1.1.1,ttl=64)),4",
       true},
      {"a field that both print",
       "set(tunnel(src=2.2.2.2,dst=1.1.1.1)),4",
       "set(tunnel(src=2.2.2.3,dst=1.1.1.1)),4",
       false},
      {"recirculation", "ct,recirc(0x5)", "ct,recirc(0x77)", true},
      {"netlink port",
       "userspace(pid=7,slow_path(action))",
       "userspace(pid=8,slow_path(action))",
       true},
      {"drop", "", "drop", true},
  };
  const PortNames ports = lab_ports();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const TunnelFields keep = common_fields(tunnel_fields(c.left), tunnel_fields(c.right));
    const std::string left = datapath_action_words(c.left, ports, keep);
    const std::string right = datapath_action_words(c.right, ports, keep);
    EXPECT_EQ(normalized_actions(left) == normalized_actions(right), c.equal) << left << "\n"
                                                                              << right;
  }
}

// Bug: a numeric field without a value ended the process.
TEST(ActionWords, KeepAFieldThatHasNoValue) {
  EXPECT_EQ(datapath_action_words("set(tunnel(tun_id,tos)),vxlan_sys_4789", {}, {}),
            "set(tunnel(tun_id)),vxlan_sys_4789");
}

TEST(ActionWords, PutTunnelsOfTcIntoTheWordsOfTheDatapath) {
  const auto filters = good(parse_tc_filters(fakes::tool_output("tc_filters.stats.txt")));
  const std::string datapath =
      entries(fakes::tool_output("datapath_flows.m_kernel_vxlan.txt")).at(0).actions;
  const auto tc = datapath_actions_of(filters.at(1));
  ASSERT_TRUE(tc);
  const TunnelFields keep = common_fields(tunnel_fields(*tc), tunnel_fields(datapath));
  EXPECT_EQ(datapath_action_words(*tc, {}, keep), datapath_action_words(datapath, {}, keep));
  EXPECT_EQ(datapath_actions_of(filters.at(2)), "drop");
  TcFilter pedit;
  pedit.actions.emplace_back().kind = "pedit";
  EXPECT_FALSE(datapath_actions_of(pedit)) << "header words are not read back into fields";
}

TEST(FlowRows, FindTheEntryOfATraceByMatchAndPort) {
  const OpenflowTrace trace =
      good(parse_openflow_trace(fakes::tool_output("openflow_trace.host_a.txt")));
  for (const char* dump : {"host_a_m", "host_a_plain", "host_a_names_m", "host_a_type_ovs"}) {
    SCOPED_TRACE(dump);
    FlowTables tables;
    tables.datapath = entries(fakes::tool_output(fmt::format("datapath_flows.{}.txt", dump)));
    const SourcedRow sourced = traced_row(trace, tables, lab_ports(), {});
    EXPECT_EQ(sourced.datapath_line, 5U);
    EXPECT_EQ(sourced.row.datapath.packets, 9U);
    EXPECT_FALSE(sourced.row.hardware_expected);
    EXPECT_EQ(sourced.row.match,
              "in_port=pA,icmp,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,"
              "nw_src=192.168.50.1,nw_dst=192.168.50.2,icmp_type=0,icmp_code=0");
    EXPECT_THAT(sourced.row.expected_actions, HasSubstr("out_port(br-ul)),ulA"));
    const RowDiff diff = compare(sourced.row);
    EXPECT_EQ(diff.finding, RowFinding::kMatches) << diff.text;
  }
}

TEST(FlowRows, TakeAnotherUfidForTheSameEntry) {
  const auto old =
      entries("ufid:1-2, in_port(1),ipv4(src=1.1.1.1/0.0.0.0,proto=17), packets:1, actions:2");
  const auto now =
      entries("ufid:3-4, in_port(1),ipv4(src=9.9.9.9/0.0.0.0,proto=17), packets:5, actions:2");
  EXPECT_NE(same_entry(now[0], old), nullptr);
  const auto other = entries("ufid:1-2, in_port(3),ipv4(proto=17), packets:1, actions:2");
  EXPECT_EQ(same_entry(now[0], other), nullptr);
}

TEST(FlowRows, ShowAnAlteredEntry) {
  FlowTables tables;
  tables.datapath = entries(fakes::tool_output("datapath_flows.host_a_m.txt"));
  tables.datapath[3].actions = "drop";
  const OpenflowTrace trace =
      good(parse_openflow_trace(fakes::tool_output("openflow_trace.host_a.txt")));
  const RowDiff diff = judged(trace, tables, lab_ports());
  EXPECT_EQ(diff.finding, RowFinding::kAlteredAction);
  EXPECT_THAT(diff.text, HasSubstr("the datapath does drop"));
}

TEST(FlowRows, ShowAnEntryThatForwardsWhatOpenflowDrops) {
  const RowDiff diff = judged(trace_of(kIcmp, "drop"), kernel_tables(), kernel_ports(), kTc);
  EXPECT_EQ(diff.finding, RowFinding::kExtra);
}

TEST(FlowRows, MatchWhatTcHolds) {
  const OpenflowTrace trace = trace_of(kIcmp, "3");
  const SourcedRow sourced = traced_row(trace, kernel_tables(), kernel_ports(), kTc);
  EXPECT_EQ(sourced.device, "p1");
  EXPECT_EQ(sourced.filter_line, 2U);
  EXPECT_EQ(sourced.shadow_line, 0U);
  EXPECT_FALSE(sourced.row.datapath.present);
  EXPECT_TRUE(sourced.row.eswitch.present);
  EXPECT_EQ(sourced.row.eswitch.packets, 30U) << "packets of the filter, not bytes";
  EXPECT_EQ(compare(sourced.row).finding, RowFinding::kMatches);
  const RowDiff none = judged(trace, kernel_tables(), kernel_ports());
  EXPECT_EQ(none.finding, RowFinding::kMatches) << "where nothing is expected of tc";
  const RowDiff hardware =
      judged(trace, kernel_tables(), kernel_ports(), {.offload = OffloadTable::kHardware});
  EXPECT_EQ(hardware.finding, RowFinding::kSoftwareOnly) << "the filter is not_in_hw";
}

TEST(FlowRows, FindTheFilterOfAnEntryByItsUfid) {
  FlowTables tables = kernel_tables();
  const SourcedRow held = untraced_row(tables.datapath[0], tables, {}, kTc);
  EXPECT_EQ(held.filter_line, 2U);
  EXPECT_EQ(held.row.eswitch.packets, 30U);
  EXPECT_EQ(untraced_row(tables.datapath[1], tables, {}, kTc).filter_line, 15U);
  const SourcedRow elsewhere = untraced_row(tables.datapath[3], tables, {}, kTc);
  EXPECT_EQ(elsewhere.device, "") << "nobody listed the filters of p2";
  EXPECT_EQ(elsewhere.row.eswitch.packets, 23U) << "as the datapath says";
  tables.datapath[0].ufid.back() = '0';
  EXPECT_EQ(untraced_row(tables.datapath[0], tables, {}, kTc).filter_line, 0U);
}

TEST(FlowRows, ShowAFilterThatWasAlteredBehindOpenVswitch) {
  std::vector<TcFilter> filters = kernel_filters();
  filters[0].actions[0].device = "p9";
  const FlowTables tables = kernel_tables(filters);
  const RowDiff diff = judged(trace_of(kIcmp, "3"), tables, kernel_ports(), kTc);
  EXPECT_EQ(diff.finding, RowFinding::kAlteredAction);
  EXPECT_THAT(diff.text, HasSubstr("the eswitch does p9"));
}

TEST(FlowRows, ShowAForeignFilterOfLowerPrefAsShadow) {
  const FlowTables tables = kernel_tables_and(foreign_drop());
  const SourcedRow sourced = traced_row(trace_of(kIcmp, "3"), tables, kernel_ports(), kTc);
  EXPECT_EQ(sourced.shadow_line, 2U);
  EXPECT_EQ(sourced.row.shadow_match,
            "tc filter pref 1 on p1 (ip flower eth_type=ipv4,ip_proto=icmp)");
  const RowDiff diff = compare(sourced.row);
  EXPECT_EQ(diff.finding, RowFinding::kShadowed);
  EXPECT_THAT(diff.text, HasSubstr("does drop (23 packets)"));
}

TEST(FlowRows, HoldNoFilterAgainstAnybodyThatDoesNotTakeThePackets) {
  struct Case {
    const char* name;
    TcFilter filter;
  };

  TcFilter udp = foreign_drop();
  udp.keys.back().value = "udp";
  TcFilter unreadable = foreign_drop();
  unreadable.keys.push_back({"ct_state", "+trk", ""});
  TcFilter passing = foreign_drop();
  passing.actions[0].control = "continue";
  TcFilter own = foreign_drop();
  own.actions[0].cookie = std::string(32, 'a');
  own.keys.back().value = "udp";
  TcFilter chained = foreign_drop();
  chained.chain = 5;
  const Case cases[] = {{"later", foreign_drop(3)},
                        {"same priority", foreign_drop(2)},
                        {"other packets", udp},
                        {"unreadable", unreadable},
                        {"goes on", passing},
                        {"Open vSwitch's own", own},
                        {"another chain", chained}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const FlowTables tables = kernel_tables_and(c.filter);
    const SourcedRow sourced = traced_row(trace_of(kIcmp, "3"), tables, kernel_ports(), kTc);
    EXPECT_FALSE(sourced.row.shadow.present);
    EXPECT_EQ(compare(sourced.row).finding, RowFinding::kMatches);
  }
}

TEST(FlowRows, TakeASoftwareFilterForNoShadowOfAnEntryInHardware) {
  std::vector<TcFilter> filters = kernel_filters();
  filters[0].in_hw = true;
  filters.push_back(foreign_drop());
  const FlowTables tables = kernel_tables(filters);
  const RowDiff diff =
      judged(trace_of(kIcmp, "3"), tables, kernel_ports(), {.offload = OffloadTable::kHardware});
  EXPECT_EQ(diff.finding, RowFinding::kMatches) << diff.text;
}

TEST(FlowRows, ShowAnOffloadedFlowThatFellBackToSoftware) {
  const auto flows = entries(
      "ufid:7cd4a8a9-0000-4963-852c-d985df7c8002, in_port(p1),eth_type(0x0800), packets:9, "
      "bytes:90, "
      "used:0.5s, dp:ovs, actions:p2\n");
  FlowTables tables;
  tables.datapath = flows;
  for (const OffloadTable table : {OffloadTable::kTc, OffloadTable::kHardware}) {
    EXPECT_EQ(compare(untraced_row(flows[0], tables, {}, {.offload = table}).row).finding,
              RowFinding::kSoftwareOnly);
  }
  EXPECT_EQ(compare(untraced_row(flows[0], tables, {}, {}).row).finding, RowFinding::kMatches);
}

TEST(FlowRows, ExpectNoSlowPathInHardware) {
  const auto flows = entries(fakes::tool_output("datapath_flows.m_tc_geneve.txt"));
  FlowTables tables;
  tables.datapath = flows;
  const RowFinding expected[] = {RowFinding::kMatches,
                                 RowFinding::kSoftwareOnly,
                                 RowFinding::kSoftwareOnly,
                                 RowFinding::kMatches};
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const SourcedRow sourced =
        untraced_row(flows[i], tables, {}, {.offload = OffloadTable::kHardware});
    EXPECT_EQ(compare(sourced.row).finding, expected[i]) << flows[i].line;
  }
}

TEST(FlowRows, ShowAnActiveFlowThatIsInNoTable) {
  FlowTables tables = kernel_tables({});
  tables.datapath.clear();
  const OpenflowTrace trace = trace_of(kIcmp, "3");
  EXPECT_EQ(judged(trace, tables, kernel_ports(), kTc).finding, RowFinding::kIdle);
  const RowDiff diff =
      judged(trace, tables, kernel_ports(), {.offload = OffloadTable::kTc, .recent_packets = 10});
  EXPECT_EQ(diff.finding, RowFinding::kMissing);
}

std::vector<OpenflowFlow> rules(std::uint64_t packets) {
  return good(parse_openflow_flows(fmt::format(
      " cookie=0x0, table=0, n_packets={}, n_bytes=0, in_port=1 actions=output:2\n", packets)));
}

TEST(FlowRows, CountWhatNoEntryAccountsForBetweenTwoReadings) {
  struct Case {
    const char* name;
    std::uint64_t rule_before;
    std::uint64_t rule_now;
    std::uint64_t entry_before;
    std::uint64_t entry_now;
    std::optional<std::uint64_t> unaccounted;
  };

  const Case cases[] = {{"entry takes them", 100, 200, 50, 150, 0},
                        {"entry stands still", 100, 200, 50, 50, 100},
                        {"entry runs ahead", 100, 200, 50, 170, 0},
                        {"entry started anew", 100, 200, 50, 30, 70},
                        {"rule started anew", 100, 20, 50, 50, std::nullopt}};
  const OpenflowTrace trace = trace_of(kIcmp, "3");
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FlowTables before;
    before.datapath = {kernel_tables().datapath[0]};
    FlowTables now = before;
    before.datapath[0].packets = c.entry_before;
    before.openflow = rules(c.rule_before);
    now.datapath[0].packets = c.entry_now;
    now.datapath[0].ufid = "another";
    now.openflow = rules(c.rule_now);
    EXPECT_EQ(unaccounted_packets(trace, before, now, kernel_ports()), c.unaccounted);
  }
  EXPECT_FALSE(unaccounted_packets(trace, {}, {}, kernel_ports())) << "no rule was read";
}

TEST(FlowRows, FindTheRuleOfATraceInADump) {
  const OpenflowTrace trace =
      good(parse_openflow_trace(fakes::tool_output("openflow_trace.ok.txt")));
  const auto dump = good(parse_openflow_flows(fakes::tool_output("openflow_flows.stats.txt")));
  const OpenflowFlow* rule = rule_of(trace, dump);
  ASSERT_NE(rule, nullptr);
  EXPECT_EQ(rule->line, 5U) << "the last one of the dumped bridge";
  EXPECT_THAT(match_words(entries(fakes::tool_output("datapath_flows.m_tc_geneve.txt")).at(3), {}),
              StartsWith("in_port=pf0vf3,eth.src=02:00:00:00:05:01,"));
}

}  // namespace
}  // namespace bonescan::backend_ovs
