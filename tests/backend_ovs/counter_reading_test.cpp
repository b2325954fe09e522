#include "detectors/backend_ovs/counter_reading.h"

#include "detectors/backend_ovs/ovs_tables.h"
#include "tests/backend_ovs/scripted_hosts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace bonescan::backend_ovs {
namespace {

const std::string kDump = "dpctl/dump-flows -m --names netdev@ovs-netdev";

/// An entry as Open vSwitch 3.1 prints it with -m.
std::string entry(const std::string& port,
                  const std::string& ip_mask,
                  const std::string& mac_mask,
                  const std::string& actions,
                  int bytes,
                  const std::string& pass = "0") {
  return fmt::format(
      "ufid:193b9c2d-3936-4676-8277-026f9140c4d6, recirc_id({}),in_port({}),"
      "eth(src=02:00:00:00:00:0a/00:00:00:00:00:00,dst=02:00:00:00:00:0b{}),"
      "eth_type(0x0800),ipv4(src=192.168.50.1/0.0.0.0,dst=192.168.50.2{},proto=17/0,"
      "tos=0/0x3,ttl=64/0,frag=no),udp(src=49193/0,dst=4791/0), packets:99, bytes:{}, "
      "used:0.117s, dp:ovs, actions:{}\n",
      pass,
      port,
      mac_mask,
      ip_mask,
      bytes,
      actions);
}

constexpr const char* kAnyIp = "/0.0.0.0";
constexpr const char* kAnyMac = "/00:00:00:00:00:00";

std::vector<CountedPeer> two_peers() {
  return {{EndpointId(3), {"b/0", "b", "192.168.50.2", "02:00:00:00:00:0b", "172.30.0.2"}},
          {EndpointId(5), {"c/0", "c", "192.168.50.3", "02:00:00:00:00:0c", "172.30.0.3"}}};
}

std::string told(const Expected<std::vector<FlowCounter>>& flows) {
  std::string text = flows ? "" : flows.error().detail;
  for (std::size_t i = 0; flows && i < flows->size(); ++i) {
    text += fmt::format("{}:{} ", (*flows)[i].peer.index(), (*flows)[i].bytes);
  }
  return text;
}

TEST(CountByPeer, TellsWhomAnEntryIsFor) {
  const std::vector<CountedPeer> behind_one = {
      {EndpointId(3), {"b/0", "b", "10.0.0.1", "", "172.30.0.2"}},
      {EndpointId(5), {"b/1", "b", "10.0.0.2", "", "172.30.0.2"}}};
  const std::string push = push_to("172.30.0.2");
  struct Case {
    const char* name;
    std::string dump;
    std::vector<CountedPeer> peers;
    std::string told;
  };
  const Case cases[] = {
      {"nothing", "", two_peers(), ""},
      {"by its address", entry("pA", "", kAnyMac, push, 100), two_peers(), "3:100 "},
      {"by its Ethernet address", entry("pA", kAnyIp, "", "ulA", 100), two_peers(), "3:100 "},
      {"by its tunnel", entry("pA", kAnyIp, kAnyMac, push, 100), two_peers(), "3:100 "},
      {"several behind one tunnel end",
       entry("pA", kAnyIp, kAnyMac, push, 100),
       behind_one,
       "3:100 5:100 "},
      {"also if it drops", entry("pA", "", kAnyMac, "drop", 100), two_peers(), "3:100 "},
      {"two entries",
       entry("pA", "", kAnyMac, push, 100) + entry("pA", "", "", push, 11),
       two_peers(),
       "3:111 "},
      {"of another port", entry("pB", "", kAnyMac, push, 100), two_peers(), ""},
      {"a stranger", entry("pA", "", kAnyMac, push, 100), {two_peers()[1]}, ""},
      {"once, though it passes twice",
       entry("pA", "", kAnyMac, "ct(commit),recirc(0x7)", 100) +
           entry("pA", "", kAnyMac, push, 100, "0x7"),
       two_peers(),
       "3:100 "},
      {"by its second pass",
       entry("pA", kAnyIp, kAnyMac, "ct,recirc(0x7)", 100) +
           entry("pA", "", kAnyMac, push, 90, "0x7"),
       two_peers(),
       "3:90 "},
      {"anybody",
       entry("pA", kAnyIp, kAnyMac, "ulA", 100),
       two_peers(),
       "an entry of port pA takes packets to anybody"},
      {"half of an address is none",
       entry("pA", "/255.255.255.0", kAnyMac, "ulA", 100),
       two_peers(),
       "an entry of port pA takes packets to anybody"},
      {"ARP",
       "recirc_id(0),in_port(pA),eth(src=02:00:00:00:00:0a,dst=ff:ff:ff:ff:ff:ff),"
       "eth_type(0x0806),arp(sip=1.2.3.4,tip=1.2.3.5,op=1), packets:1, bytes:42, used:1s, "
       "actions:ulA\n",
       two_peers(),
       ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto entries = parse_datapath_flows(c.dump);
    ASSERT_TRUE(entries) << entries.error().detail;
    EXPECT_EQ(told(count_by_peer(*entries, "pA", {}, c.peers)), c.told);
  }
}

class Counters : public ScriptedHosts {
 public:
  Counters() { endpoints_[EndpointId(0)].task = endpoints_[EndpointId(1)].task = "job"; }

  void prints(int bytes) {
    runner_.prints(command("ha", kDump), entry("pA", "", kAnyMac, push_to("172.30.0.2"), bytes));
  }

  Expected<FlowCounterDump> counters() {
    if (!tables_) {
      workshop_ = std::make_unique<OvsWorkshop>(config_, runner_);
      tables_ = std::make_unique<OvsTables>(*workshop_, endpoints_, components_);
    }
    return settled([&](Time now) { return tables_->flow_counters(EndpointId(0), now); });
  }

  std::unique_ptr<OvsTables> tables_;
};

TEST_F(Counters, AreReadFromTheDatapathAndAgeWhileTheyGrow) {
  prints(1000);
  const auto first = counters();
  ASSERT_TRUE(first) << first.error().detail;
  EXPECT_EQ(components_[first->rnic].name, "host-a/rnic-0");
  ASSERT_EQ(first->flows.size(), 1U);
  EXPECT_EQ(first->flows[0].peer, EndpointId(1));
  EXPECT_EQ(first->flows[0].bytes, 1000U);
  EXPECT_EQ(first->flows[0].age, Duration(0)) << "seen for the first time";
  prints(4000);
  EXPECT_EQ(counters()->flows[0].age, std::chrono::minutes(1));
  prints(500);
  EXPECT_EQ(counters()->flows[0].age, Duration(0)) << "its counter went back: another entry";
}

TEST_F(Counters, ArePendingFirstAndUnavailableWhereNothingCanBeRead) {
  prints(1000);
  workshop_ = std::make_unique<OvsWorkshop>(config_, runner_);
  tables_ = std::make_unique<OvsTables>(*workshop_, endpoints_, components_);
  const auto pending = tables_->flow_counters(EndpointId(0), now_);
  ASSERT_FALSE(pending);
  EXPECT_EQ(pending.error().code, ErrorCode::kPending);
  const auto unknown = tables_->flow_counters(EndpointId(9), now_);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnavailable);
  endpoints_[EndpointId(0)].host = "host-z";
  EXPECT_EQ(tables_->flow_counters(EndpointId(0), now_).error().detail,
            "host host-z cannot be inspected from here");
}

TEST_F(Counters, DoNotMixTenants) {
  endpoints_[EndpointId(1)].task = "other";
  prints(1000);
  const auto found = counters();
  ASSERT_TRUE(found) << found.error().detail;
  EXPECT_TRUE(found->flows.empty());
}

}  // namespace
}  // namespace bonescan::backend_ovs
