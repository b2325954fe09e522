#include "detectors/backend_ovs/ovs_tables.h"

#include "detectors/localize/table_diff.h"
#include "tests/backend_ovs/scripted_hosts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bonescan::backend_ovs {
namespace {

const std::string kDump = "dpctl/dump-flows -m --names netdev@ovs-netdev";
const std::string kRules =
    "ip netns exec ha ovs-ofctl --names -O "
    "OpenFlow10,OpenFlow11,OpenFlow12,OpenFlow13,OpenFlow14,OpenFlow15 dump-flows br-int";
const std::string kFilters = "ip netns exec ha tc -s -j filter show dev pA ingress";
constexpr std::string_view kEthernet = ",dl_src=02:00:00:00:00:0a,dl_dst=02:00:00:00:00:0b";

std::string entry(const std::string& actions, int packets) {
  return fmt::format(
      "ufid:193b9c2d-3936-4676-8277-026f9140c4d6, recirc_id(0),in_port(pA),"
      "eth(src=02:00:00:00:00:0a/00:00:00:00:00:00,dst=02:00:00:00:00:0b/00:00:00:00:00:00),"
      "eth_type(0x0800),ipv4(src=192.168.50.1/0.0.0.0,dst=192.168.50.2/0.0.0.0,proto=17/0,"
      "tos=0/0x3,ttl=64/0,frag=no),udp(src=49193/0,dst=4791/0), packets:{}, bytes:10494, "
      "used:0.117s, dp:ovs, actions:{}\n",
      packets,
      actions);
}

std::string rules(int packets) {
  return fmt::format(
      " cookie=0x0, duration=14.970s, table=0, n_packets={}, n_bytes=1, priority=100,in_port=pA "
      "actions=set_field:0x64->tun_id,output:vx0\n",
      packets);
}

class Tables : public ScriptedHosts {
 public:
  Tables() {
    config_.statistics_lag = std::chrono::milliseconds(1);
    const std::string seen = std::string("udp") + std::string(kEthernet) +
                             std::string(kInner.substr(std::string_view("udp").size()));
    runner_.prints(command("ha", "ofproto/trace --names br-int in_port=1," + seen),
                   tunnelled("172.30.0.2"));
    runner_.prints(command("ha", kDump), entry(push_to("172.30.0.2"), 99));
  }

  Expected<FlowTableDump> dump() {
    if (!tables_) {
      workshop_ = std::make_unique<OvsWorkshop>(config_, runner_);
      tables_ = std::make_unique<OvsTables>(*workshop_, endpoints_, components_);
    }
    const std::vector<FlowKey> flows = {flow_};
    return settled([&](Time now) { return tables_->dump(EndpointId(0), flows, now); });
  }

  std::unique_ptr<OvsTables> tables_;
};

TEST_F(Tables, NamesTheBridgeAndTheRnicAndHasARowForTheFlow) {
  const auto found = dump();
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(components_[found->bridge].name, "host-a/br-int");
  EXPECT_EQ(components_[found->bridge].type, ComponentType::kBridge);
  EXPECT_EQ(components_[found->rnic].name, "host-a/rnic-0");
  ASSERT_EQ(found->rows.size(), 1U);
  EXPECT_EQ(found->rows[0].flow, flow_);
  EXPECT_EQ(found->rows[0].role, FlowRole::kEncap);
  EXPECT_FALSE(found->rows[0].hardware_expected);
  EXPECT_EQ(found->rows[0].datapath.packets, 99U);
  EXPECT_EQ(summarize(*found).strongest, RowFinding::kMatches);
}

TEST_F(Tables, ShowsAnActionThatOpenFlowDidNotAskFor) {
  runner_.prints(command("ha", kDump), entry("drop", 99));
  const auto found = dump();
  ASSERT_TRUE(found) << found.error().detail;
  const TableDiff diff = summarize(*found);
  EXPECT_EQ(diff.strongest, RowFinding::kAlteredAction) << diff.text;
  EXPECT_EQ(components_[diff.culprit].name, "host-a/br-int");
}

TEST_F(Tables, CallsAFlowInNoTableIdleUnlessItsRuleCountsPackets) {
  runner_.prints(command("ha", kDump), "");
  runner_.prints(command("ha", kTraceA), tunnelled("172.30.0.2"));
  runner_.prints(kRules, rules(166));
  const auto idle = dump();
  ASSERT_TRUE(idle) << idle.error().detail;
  EXPECT_EQ(summarize(*idle).strongest, RowFinding::kIdle);
  EXPECT_EQ(runner_.count("ovs-ofctl"), 2U);
  runner_.prints_in_turn(kRules, {rules(166), rules(176)});
  const auto missing = dump();
  ASSERT_TRUE(missing) << missing.error().detail;
  EXPECT_EQ(missing->rows[0].datapath.packets, 10U);
  EXPECT_EQ(summarize(*missing).strongest, RowFinding::kMissing);
}

TEST_F(Tables, ReadsTheFiltersOfThePortWhereFlowsAreOffloaded) {
  config_.hosts[0].offload_table = OffloadTable::kTc;
  runner_.prints(kFilters,
                 R"([{"protocol":"ip","pref":1,"kind":"flower","chain":0},
          {"protocol":"ip","pref":1,"kind":"flower","chain":0,"options":{"handle":1,
           "keys":{"eth_type":"ipv4","ip_proto":"udp"},"skip_hw":true,"not_in_hw":true,
           "actions":[{"order":1,"kind":"gact","control_action":{"type":"drop"},"stats":
           {"bytes":1932,"packets":23,"drops":23}}]}}])");
  const auto found = dump();
  ASSERT_TRUE(found) << found.error().detail;
  ASSERT_EQ(found->rows.size(), 1U);
  EXPECT_TRUE(found->rows[0].hardware_expected);
  EXPECT_TRUE(found->rows[0].shadow.present);
  EXPECT_EQ(found->rows[0].shadow.packets, 23U);
  const TableDiff diff = summarize(*found);
  EXPECT_EQ(diff.strongest, RowFinding::kShadowed) << diff.text;
}

TEST_F(Tables, IsUnavailableWhereNothingCanBeRead) {
  struct Case {
    const char* name;
    std::function<void(Tables&)> arrange;
    const char* detail;
  };
  const Case cases[] = {
      {"a host that is not inspectable",
       [](Tables& at) { at.endpoints_[EndpointId(0)].host = "host-z"; },
       "host host-z cannot be inspected from here"},
      {"no dump",
       [](Tables& at) {
         at.runner_.fails(
             command("ha", kDump), CommandFailure::kTooMuchOutput, "ovs-appctl: more than 9 bytes");
       },
       "host-a: ovs-appctl: more than 9 bytes"},
      {"no filters",
       [](Tables& at) {
         at.runner_.prints(command("ha", kDump), entry("drop", 1));
         at.config_.hosts[0].offload_table = OffloadTable::kTc;
         at.runner_.fails(kFilters, CommandFailure::kNotFound, "tc: not found");
       },
       "host-a: tc: not found"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const EndpointDirectory endpoints = endpoints_;
    tables_.reset();
    c.arrange(*this);
    const auto found = dump();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(found.error().detail, c.detail);
    endpoints_ = endpoints;
  }
}

}  // namespace
}  // namespace bonescan::backend_ovs
