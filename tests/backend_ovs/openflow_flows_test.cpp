#include "detectors/backend_ovs/parse/openflow_flows.h"

#include "tests/support/tool_output.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::backend_ovs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Flows = std::vector<OpenflowFlow>;

std::vector<std::string> summaries(const std::string& text) {
  const Expected<Flows> flows = parse_openflow_flows(text);
  EXPECT_TRUE(flows) << flows.error().detail;
  std::vector<std::string> all;
  for (const OpenflowFlow& flow : flows.value_or(Flows{})) {
    const std::string counters =
        flow.packets ? fmt::format(" {}p {}b", *flow.packets, *flow.bytes) : std::string();
    all.push_back(fmt::format(
        "{} {} [{}]{} -> {}", flow.table, flow.priority, flow.match_text, counters, flow.actions));
  }
  return all;
}

TEST(OpenflowFlows, ReadsStatisticsBehindAReplyHeader) {
  EXPECT_THAT(
      summaries(fakes::tool_output("openflow_flows.stats.txt")),
      ElementsAre("0 100 [in_port=1,dl_src=02:00:aa:00:00:0b] 8p 848b -> "
                  "load:0x1->NXM_NX_REG0[],resubmit(,10)",
                  "0 100 [tun_id=0x1389,in_port=2] 0p 0b -> load:0x2->NXM_NX_REG0[],resubmit(,10)",
                  "0 0 [] 0p 0b -> drop",
                  "10 60 [dl_dst=02:00:aa:00:00:0c] 8p 848b -> output:2",
                  "10 60 [dl_dst=02:00:aa:00:00:0b] 0p 0b -> output:1",
                  "10 50 [arp] 0p 0b -> NORMAL",
                  "10 0 [] 0p 0b -> drop"));
}

TEST(OpenflowFlows, TakesAMissingTableForTableZero) {
  EXPECT_THAT(
      summaries(fakes::tool_output("openflow_flows.names.txt")),
      ElementsAre("0 100 [in_port=pf0vf0,dl_src=02:00:aa:00:00:0b] -> "
                  "load:0x1->NXM_NX_REG0[],resubmit(,10)",
                  "0 100 [tun_id=0x1389,in_port=vxlan0] -> load:0x2->NXM_NX_REG0[],resubmit(,10)",
                  "0 0 [] -> drop",
                  "10 60 [dl_dst=02:00:aa:00:00:0c] -> output:vxlan0",
                  "10 60 [dl_dst=02:00:aa:00:00:0b] -> output:pf0vf0",
                  "10 50 [arp] -> NORMAL",
                  "10 0 [] -> drop"));
}

TEST(OpenflowFlows, TakesTheDefaultPriority) {
  EXPECT_THAT(summaries(fakes::tool_output("openflow_flows.host_a.txt")),
              ElementsAre("0 32768 [in_port=1] 24p 2120b -> set_field:0x64->tun_id,output:10",
                          "0 32768 [tun_id=0x64,in_port=10] 24p 2120b -> output:1"));
  EXPECT_THAT(summaries(fakes::tool_lines("lab.kernel_tc_none.txt", 105, 107)),
              ElementsAre("0 32768 [in_port=1] 125p 11522b -> output:2",
                          "0 32768 [in_port=2] 128p 10562b -> output:1"));
  EXPECT_THAT(summaries(""), IsEmpty());
}

TEST(OpenflowFlows, SplitTheMatchIntoFields) {
  const auto flows = parse_openflow_flows(
      "cookie=0x5, table=3, send_flow_rem priority=7,udp,nw_src=10.0.0.0/8,"
      "ct_state=+est+trk actions=output:1\n");
  ASSERT_TRUE(flows) << flows.error().detail;
  const OpenflowFlow& flow = flows->at(0);
  EXPECT_EQ(flow.cookie, 5U);
  EXPECT_THAT(flow.match,
              ElementsAre(MatchField{"udp", "", ""},
                          MatchField{"nw_src", "10.0.0.0", "8"},
                          MatchField{"ct_state", "+est+trk", ""}));
}

TEST(OpenflowFlows, SayWhereAndWhatIsWrong) {
  struct Case {
    const char* text;
    const char* error;
  };

  const Case cases[] = {{"hello", "1:1: expected a flow with \"actions=\""},
                        {" table=x, priority=0 actions=drop", "1:2: expected a whole number"},
                        {"\n priority=0,in(1 actions=drop", "2:1: expected matching brackets"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    const Expected<Flows> flows = parse_openflow_flows(c.text);
    ASSERT_FALSE(flows);
    EXPECT_EQ(flows.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(flows.error().detail, HasSubstr(c.error));
  }
  const Expected<Flows> refused =
      parse_openflow_flows("ovs-ofctl: br-x is not a bridge or a socket\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace bonescan::backend_ovs
