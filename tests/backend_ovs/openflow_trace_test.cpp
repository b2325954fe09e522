#include "detectors/backend_ovs/parse/openflow_trace.h"

#include "tests/support/tool_output.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::backend_ovs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

OpenflowTrace parsed(const std::string& text) {
  const Expected<OpenflowTrace> trace = parse_openflow_trace(text);
  EXPECT_TRUE(trace) << trace.error().detail;
  return trace.value_or(OpenflowTrace{{TracePass{}}, TraceEnd::kForwarded, "", {}});
}

OpenflowTrace fixture(const std::string& name) {
  return parsed(fakes::tool_output("openflow_trace." + name + ".txt"));
}

std::vector<std::string> hops_of(const TracePass& pass) {
  std::vector<std::string> hops;
  for (const TraceHop& hop : pass.hops) {
    hops.push_back(fmt::format("{} {} [{}] {}", hop.bridge, hop.table, hop.match, hop.priority));
  }
  return hops;
}

TEST(OpenflowTrace, ReadsTheWayThroughTwoBridges) {
  const OpenflowTrace trace = fixture("ok");
  EXPECT_EQ(trace.end, TraceEnd::kForwarded);
  EXPECT_EQ(trace.cause, "");
  EXPECT_THAT(trace.remarks, IsEmpty());
  ASSERT_THAT(trace.passes, SizeIs(1));
  const TracePass& pass = trace.passes[0];
  EXPECT_THAT(pass.flow, StartsWith("udp,in_port=1,vlan_tci=0x0000,dl_src=02:00:aa:00:00:0b,"));
  EXPECT_THAT(pass.final_flow, StartsWith("udp,reg0=0x1,in_port=1,"));
  EXPECT_EQ(pass.megaflow,
            "recirc_id=0,eth,ip,in_port=1,dl_src=02:00:aa:00:00:0b,dl_dst=02:00:aa:00:00:0c,"
            "nw_ecn=0,nw_frag=no");
  EXPECT_THAT(pass.datapath_actions, StartsWith("tnl_push(tnl_port(4789),header("));
  EXPECT_THAT(hops_of(pass),
              ElementsAre("br-int 0 [in_port=1,dl_src=02:00:aa:00:00:0b] 100",
                          "br-int 10 [dl_dst=02:00:aa:00:00:0c] 60",
                          "br-phy 0 [] 32768"));
  EXPECT_THAT(pass.hops[0].actions, ElementsAre("load:0x1->NXM_NX_REG0[]", "resubmit(,10)"));
  EXPECT_EQ(pass.hops[1].rule, "dl_dst=02:00:aa:00:00:0c, priority 60");
  EXPECT_EQ(pass.hops[1].line, 8U);
  EXPECT_THAT(pass.hops[1].notes,
              ElementsAre("-> output to native tunnel",
                          "-> tunneling to 10.60.8.12 via br-phy",
                          "-> tunneling from 04:3f:72:a0:00:01 10.60.8.11 to 04:3f:72:b0:00:01 "
                          "10.60.8.12"));
  EXPECT_FALSE(pass.hops[2].miss);
}

TEST(OpenflowTrace, ReadsTheLabHost) {
  const OpenflowTrace trace = fixture("host_a");
  EXPECT_EQ(trace.end, TraceEnd::kForwarded);
  EXPECT_THAT(hops_of(trace.passes[0]), ElementsAre("br-int 0 [in_port=1] 32768", "br-ul 0 [] 0"));
  EXPECT_EQ(trace.passes[0].megaflow, "recirc_id=0,eth,ip,in_port=1,nw_ecn=0,nw_frag=no");
}

TEST(OpenflowTrace, TakesTheLastLineOfADropForNoCause) {
  struct Case {
    const char* name;
    TraceEnd end;
    const char* cause;
    std::size_t hops;
  };

  const Case cases[] = {
      {"drop", TraceEnd::kDropped, "10. priority 0", 2},
      {"loop", TraceEnd::kLoop, ">>>> over max translation depth 64 <<<<", 6},
      {"neigh_missing",
       TraceEnd::kNeighbourMissing,
       "-> neighbor cache miss for 10.60.8.12 on bridge br-phy, sending ARP request",
       2},
      {"tunnel_route_failed", TraceEnd::kTunnelRouteFailed, ">> native tunnel routing failed", 2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const OpenflowTrace trace = fixture(c.name);
    EXPECT_EQ(trace.end, c.end);
    EXPECT_EQ(trace.cause, c.cause);
    ASSERT_THAT(trace.passes, SizeIs(1));
    EXPECT_EQ(trace.passes[0].datapath_actions, "drop");
    EXPECT_THAT(trace.passes[0].hops, SizeIs(c.hops));
  }
  EXPECT_THAT(fixture("loop").remarks,
              ElementsAre("Translation failed (Recursion too deep), packet is dropped."));
  EXPECT_EQ(fixture("drop").last_hop()->table, 10U);
}

TEST(OpenflowTrace, ReadsTableMissesAndCookies) {
  const OpenflowTrace trace = parsed(
      "Flow: udp,in_port=1\n\nbridge(\"br0\")\n-----\n"
      " 0. udp,in_port=1, priority 7, cookie 0x5adc15c0\n    goto_table:2\n 2. No match.\n"
      "    drop\n\nFinal flow: unchanged\nMegaflow: recirc_id=0\nDatapath actions: drop\n");
  const std::vector<TraceHop>& hops = trace.passes[0].hops;
  ASSERT_THAT(hops, SizeIs(2));
  EXPECT_EQ(hops[0].match, "udp,in_port=1");
  EXPECT_EQ(hops[0].cookie, 0x5adc15c0U);
  EXPECT_TRUE(hops[1].miss);
  EXPECT_EQ(trace.cause, "2. No match.");
}

TEST(OpenflowTrace, FollowsARecirculatedFlow) {
  const std::string bar(30, '=');
  const OpenflowTrace trace = parsed(
      "Flow: tcp,in_port=1\n\nbridge(\"br0\")\n---\n 0. tcp, priority 1\n    ct(table=1)\n\n"
      "Final flow: unchanged\nMegaflow: recirc_id=0,tcp\nDatapath actions: ct,recirc(0x1)\n\n" +
      bar + "\nrecirc(0x1) - resume conntrack with default ct_state=trk|new\n" + bar +
      "\n\nFlow: recirc_id=0x1,ct_state=new|trk,tcp\n\nbridge(\"br0\")\n---\n    thaw\n"
      "        Resuming from table 1\n 1. priority 3\n    drop\n\nFinal flow: unchanged\n"
      "Megaflow: recirc_id=0x1\nDatapath actions: drop\n");
  ASSERT_THAT(trace.passes, SizeIs(2));
  EXPECT_EQ(trace.passes[0].datapath_actions, "ct,recirc(0x1)");
  EXPECT_THAT(trace.passes[1].recirculation, StartsWith("recirc(0x1) - resume"));
  EXPECT_THAT(hops_of(trace.passes[1]), ElementsAre("br0 1 [] 3"));
  EXPECT_EQ(trace.end, TraceEnd::kDropped);
  EXPECT_EQ(trace.cause, "1. priority 3");
}

TEST(OpenflowTrace, KeepsTheSlowPathRemark) {
  const OpenflowTrace trace = parsed(
      "Flow: arp,in_port=1\nMegaflow: arp\nDatapath actions: 2\n"
      "This flow is handled by the userspace slow path because it:\n  - Uses action(s) "
      "not supported by datapath.\n");
  EXPECT_THAT(trace.remarks, SizeIs(2));
  EXPECT_EQ(trace.end, TraceEnd::kForwarded);
}

TEST(OpenflowTrace, SayWhatIsWrong) {
  const Expected<OpenflowTrace> no_datapath =
      parse_openflow_trace(fakes::tool_output("openflow_trace.host_a_no_datapath.txt"));
  ASSERT_FALSE(no_datapath);
  EXPECT_EQ(no_datapath.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(no_datapath.error().detail, HasSubstr("Cannot find the datapath"));

  struct Case {
    const char* text;
    const char* error;
  };

  const Case cases[] = {{"", "1:1: expected \"Flow: ...\""},
                        {"\nBad stuff\n", "2:1: expected \"Flow: ...\""},
                        {"Flow: udp\n 0. priority 1\n", "the output is cut off"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Expected<OpenflowTrace> trace = parse_openflow_trace(c.text);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(trace.error().detail, HasSubstr(c.error));
  }
}

}  // namespace
}  // namespace bonescan::backend_ovs
