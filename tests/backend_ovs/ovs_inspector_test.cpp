#include "detectors/backend_ovs/ovs_inspector.h"

#include "tests/backend_ovs/scripted_hosts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace bonescan::backend_ovs {
namespace {

class Inspection : public ScriptedHosts {
 public:
  Expected<OverlayWalk> walk() {
    if (!inspector_) {
      workshop_ = std::make_unique<OvsWorkshop>(config_, runner_);
      inspector_ = std::make_unique<OvsInspector>(*workshop_, endpoints_, components_);
    }
    return settled([&](Time now) { return inspector_->walk(flow_, now); });
  }

  std::string culprit(const OverlayWalk& walk) const {
    return walk.culprit.valid() ? fmt::format("{} {}",
                                              to_string(components_[walk.culprit].type),
                                              components_[walk.culprit].name)
                                : "";
  }

  std::unique_ptr<OvsInspector> inspector_;
};

TEST_F(Inspection, IsPendingFirstAndThenDelivered) {
  workshop_ = std::make_unique<OvsWorkshop>(config_, runner_);
  inspector_ = std::make_unique<OvsInspector>(*workshop_, endpoints_, components_);
  const auto first = inspector_->walk(flow_, now_);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ErrorCode::kPending);
  const auto found = walk();
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(found->end, WalkEnd::kDelivered) << found->reason;
  ASSERT_EQ(found->hops.size(), 2U);
  EXPECT_EQ(components_[found->hops[0].where].name, "host-a/br-int");
  EXPECT_EQ(components_[found->hops[0].where].type, ComponentType::kBridge);
  EXPECT_EQ(found->hops[0].rule, "table=0 in_port=pA, priority 100");
  EXPECT_EQ(found->hops[0].action, "set_field:0x64->tun_id,output:vx0");
  EXPECT_EQ(components_[found->hops[1].where].name, "host-b/br-int");
  EXPECT_EQ(culprit(*found), "");
  EXPECT_EQ(found->reason, "");
}

TEST_F(Inspection, ReadsPortsOnceAndTracesEveryTime) {
  ASSERT_TRUE(walk());
  ASSERT_TRUE(walk());
  EXPECT_EQ(runner_.count("dpif/show"), 2U);
  EXPECT_EQ(runner_.count("ofproto/trace"), 4U);
}

struct WalkCase {
  const char* name;
  std::function<void(fakes::FakeRunner&)> arrange;
  WalkEnd end;
  const char* culprit;
  const char* reason;
};

TEST_F(Inspection, TellsHowTheChainEnds) {
  const WalkCase cases[] = {
      {"drop rule at the target",
       [](auto& runner) {
         runner.prints(command("hb", kTraceB),
                       trace_text(" 0. udp,tp_dst=4791, priority 60000\n    drop\n", "drop"));
       },
       WalkEnd::kNoNextHop,
       "rule host-b/br-int table=0 priority=60000,udp,tp_dst=4791",
       "0. udp,tp_dst=4791, priority 60000"},
      {"table miss",
       [](auto& runner) {
         runner.prints(command("ha", kTraceA), trace_text(" 0. No match.\n    drop\n", "drop"));
       },
       WalkEnd::kNoNextHop,
       "bridge host-a/br-int",
       "No match"},
      {"missing neighbour",
       [](auto& runner) {
         runner.prints(
             command("ha", kTraceA),
             trace_text(" 0. in_port=pA, priority 100\n    output:vx0\n"
                        "     -> output to native tunnel\n"
                        "     -> tunneling to 172.30.0.2 via br-ul\n"
                        "     -> neighbor cache miss for 172.30.0.2 on bridge br-ul, sending ARP"
                        " request\n",
                        "drop"));
       },
       WalkEnd::kMissingNeighbour,
       "bridge host-a/br-ul",
       "neighbor cache miss"},
      {"no tunnel route",
       [](auto& runner) {
         runner.prints(command("ha", kTraceA),
                       trace_text(" 0. in_port=pA, priority 100\n    output:vx0\n"
                                  "     -> output to native tunnel\n"
                                  "     >> native tunnel routing failed\n",
                                  "drop"));
       },
       WalkEnd::kNoNextHop,
       "bridge host-a/br-int",
       "native tunnel routing failed"},
      {"a port that is not the target's",
       [](auto& runner) {
         runner.prints(command("hb", kTraceB), trace_text(" 0. priority 0\n    output:pC\n", "pC"));
       },
       WalkEnd::kNotLocal,
       "rule host-b/br-int table=0 priority=0",
       "it goes to pC"},
      {"a tunnel to nobody",
       [](auto& runner) { runner.prints(command("ha", kTraceA), tunnelled("172.30.0.9")); },
       WalkEnd::kNotLocal,
       "rule host-a/br-int table=0 priority=100,in_port=pA",
       "the tunnel leads to 172.30.0.9"},
      {"a tunnel that comes back",
       [](auto& runner) {
         runner.prints(command("hb", kTraceB),
                       trace_text(" 0. priority 0\n    output:vx0\n", push_to("172.30.0.2")));
       },
       WalkEnd::kLoop,
       "rule host-b/br-int table=0 priority=0",
       "comes back to host-b/br-int"},
      {"a physical port without a tunnel",
       [](auto& runner) {
         runner.prints(command("ha", kTraceA), trace_text(" 0. priority 0\n    NORMAL\n", "eth7"));
       },
       WalkEnd::kOutOfView,
       "",
       "it leaves through eth7"},
      {"the target's Open vSwitch does not answer",
       [](auto& runner) {
         runner.fails(command("hb", kTraceB), CommandFailure::kTimeout, "no end after 2.0 s");
       },
       WalkEnd::kOutOfView,
       "",
       "host-b: no end after 2.0 s"},
  };
  for (const WalkCase& c : cases) {
    SCOPED_TRACE(c.name);
    runner_.prints(command("ha", kTraceA), tunnelled("172.30.0.2"));
    runner_.prints(command("hb", kTraceB), trace_text(kDelivers, "pB"));
    c.arrange(runner_);
    const auto found = walk();
    ASSERT_TRUE(found) << found.error().detail;
    EXPECT_EQ(found->end, c.end) << static_cast<int>(found->end) << " " << found->reason;
    EXPECT_EQ(culprit(*found), c.culprit);
    EXPECT_NE(found->reason.find(c.reason), std::string::npos) << found->reason;
  }
}

TEST_F(Inspection, IsOutOfViewWhereTheTargetsHostIsNotInspectable) {
  config_.hosts.pop_back();
  const auto found = walk();
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(found->end, WalkEnd::kOutOfView);
  EXPECT_NE(found->reason.find("172.30.0.2"), std::string::npos) << found->reason;
  EXPECT_EQ(found->hops.size(), 1U);
}

TEST_F(Inspection, ContinuesWithTheHeadersThatTheDatapathRewrote) {
  runner_.prints(
      command("ha", kTraceA),
      trace_text(" 0. in_port=pA, priority 100\n    output:vx0\n",
                 "set(eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02))," + push_to("172.30.0.2")));
  runner_.prints(
      command("hb",
              "ofproto/trace --names br-int in_port=10,tun_id=100,tun_src=172.30.0.1,"
              "tun_dst=172.30.0.2,udp,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,"
              "nw_src=192.168.50.1,nw_dst=192.168.50.2,nw_ttl=64,udp_src=49193,udp_dst=4791"),
      trace_text(kDelivers, "pB"));
  const auto found = walk();
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(found->end, WalkEnd::kDelivered) << found->reason;
}

TEST_F(Inspection, FindsAPortByNumberOrByMac) {
  OvsPort& port = config_.hosts[0].ports[0];
  port.interface.clear();
  port.openflow_port = 1;
  EXPECT_EQ(walk()->end, WalkEnd::kDelivered);
  inspector_.reset();
  port.openflow_port = 0;
  port.mac = "02:00:00:00:00:0A";
  runner_.prints(
      "ip netns exec ha ovs-vsctl --no-wait --bare --columns=name find Interface "
      "external_ids:attached-mac=\"02:00:00:00:00:0A\"",
      "pA\n");
  const std::string with_mac =
      "udp,dl_src=02:00:00:00:00:0a" + std::string(kInner.substr(std::string_view("udp").size()));
  runner_.prints(command("ha", "ofproto/trace --names br-int in_port=1," + with_mac),
                 trace_text(" 0. No match.\n    drop\n", "drop"));
  const auto found = walk();
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(found->end, WalkEnd::kNoNextHop);
}

TEST_F(Inspection, LearnsEthernetAddressesFromTheDatapath) {
  runner_.prints(command("ha", "dpctl/dump-flows -m --names netdev@ovs-netdev"),
                 "recirc_id(0),in_port(pA),eth(src=02:00:00:00:00:0a/00:00:00:00:00:00,"
                 "dst=02:00:00:00:00:0b/00:00:00:00:00:00),eth_type(0x0800),"
                 "ipv4(src=192.168.50.1/0.0.0.0,dst=192.168.50.2/0.0.0.0,proto=1/0,frag=no), "
                 "packets:9, bytes:882, used:0.173s, dp:ovs, actions:drop\n");
  runner_.prints(command("ha",
                         "ofproto/trace --names br-int in_port=1,udp,dl_src=02:00:00:00:00:0a,"
                         "dl_dst=02:00:00:00:00:0b" +
                             std::string(kInner.substr(std::string_view("udp").size()))),
                 trace_text(" 0. priority 0\n    drop\n", "drop"));
  const auto found = walk();
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_EQ(culprit(*found), "rule host-a/br-int table=0 priority=0");
}

TEST_F(Inspection, AccusesNobodyOverAnAddressThatIsNotKnown) {
  std::string text = trace_text(" 0. priority 0\n    drop\n", "drop");
  const std::string megaflow = "Megaflow: recirc_id=0,eth,ip";
  text.insert(text.find(megaflow) + megaflow.size(), ",dl_dst=00:00:00:00:00:00");
  runner_.prints(command("ha", kTraceA), text);
  const auto found = walk();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(found.error().detail.find("Ethernet"), std::string::npos) << found.error().detail;
}

TEST_F(Inspection, IsUnavailableWhereNothingCanBeSeen) {
  struct Case {
    const char* name;
    std::function<void(Inspection&)> arrange;
    const char* detail;
  };
  const Case cases[] = {
      {"Open vSwitch is not installed",
       [](Inspection& at) {
         at.runner_.fails(
             command("ha", "dpif/show"), CommandFailure::kNotFound, "ovs-appctl: not found");
       },
       "host-a: ovs-appctl: not found"},
      {"no such bridge",
       [](Inspection& at) { at.config_.hosts[0].integration_bridge = "br9"; },
       "host-a: there is no bridge br9"},
      {"no such port",
       [](Inspection& at) { at.config_.hosts[0].ports[0].interface = "p9"; },
       "host-a: no bridge has the port p9"},
      {"no port configured",
       [](Inspection& at) { at.config_.hosts[0].ports.clear(); },
       "host-a: no port is configured for host-a/rnic-0"},
      {"an address that is none",
       [](Inspection& at) { at.endpoints_[EndpointId(1)].overlay_ip = "x,actions=drop"; },
       "host-b/rnic-0: 'x,actions=drop' is not an IP address"},
      {"a source elsewhere",
       [](Inspection& at) { at.endpoints_[EndpointId(0)].host = "host-z"; },
       "host host-z cannot be inspected from here"},
      {"an answer of another form",
       [](Inspection& at) { at.runner_.prints(command("ha", kTraceA), "surprise\n"); },
       "host-a: ofproto/trace: "},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const OvsConfig config = config_;
    const EndpointDirectory endpoints = endpoints_;
    inspector_.reset();
    c.arrange(*this);
    const auto found = walk();
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(found.error().detail.substr(0, std::string(c.detail).size()), c.detail);
    config_ = config;
    endpoints_ = endpoints;
    runner_.prints(command("ha", kTraceA), tunnelled("172.30.0.2"));
    runner_.prints(command("ha", "dpif/show"),
                   "netdev@ovs-netdev: hit:79 missed:25\n  br-int:\n    pA 1/5: (system)\n"
                   "    vx0 10/4: (vxlan: key=flow, remote_ip=172.30.0.2)\n");
  }
}

}  // namespace
}  // namespace bonescan::backend_ovs
