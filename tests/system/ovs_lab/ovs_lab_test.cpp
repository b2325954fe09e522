// Real Open vSwitch on two hosts: each inconsistency is made with Open vSwitch's own tools, and the
// overlay walk or the table check must name the host, the bridge and the rule.
#include "tests/system/ovs_lab/ovs_findings.h"
#include "tests/system/ovs_lab/two_host_lab.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>

namespace bonescan::lab {
namespace {

class OvsLab : public testing::Test {
 protected:
  void SetUp() override {
    const bool possible =
        geteuid() == 0 && TwoHostLab::run({"ovs-vswitchd", "--version"}).find("failed") != 0;
    const char* ci = std::getenv("CI");
    if (!possible && (ci == nullptr || std::string(ci) != "true")) {
      GTEST_SKIP() << "needs root and the package openvswitch-switch";
    }
    lab_ = std::make_unique<TwoHostLab>();
    ASSERT_TRUE(lab_->stands()) << "the lab could not be built; see its messages above";
    echo_ = std::make_unique<Companion>(lab_->echo_command('B'));
    ASSERT_TRUE(echo_->ready(10'000));
    // The first packets resolve addresses and make the flows.
    ASSERT_NE(lab_->probe(10), "0\n");
    ASSERT_EQ(lab_->probe(10), "10\n");
    findings_ = std::make_unique<OvsFindings>(lab_->config(), TwoHostLab::endpoints());
  }

  void TearDown() override {
    findings_.reset();
    echo_.reset();
    lab_.reset();
  }

  std::unique_ptr<TwoHostLab> lab_;
  std::unique_ptr<Companion> echo_;
  std::unique_ptr<OvsFindings> findings_;
};

TEST_F(OvsLab, FindsNothingWhenHealthy) {
  const auto walk = findings_->walk(TwoHostLab::flow());
  ASSERT_TRUE(walk) << walk.error().detail;
  EXPECT_EQ(walk->end, WalkEnd::kDelivered) << walk->reason;
  ASSERT_EQ(walk->hops.size(), 3U);
  EXPECT_EQ(findings_->name(walk->hops[0].where), "host-a/br-int");
  EXPECT_EQ(findings_->name(walk->hops[1].where), "host-a/br-ul");
  EXPECT_EQ(findings_->name(walk->hops[2].where), "host-b/br-int");
  const OverlayFinding overlay = findings_->overlay(TwoHostLab::flow());
  EXPECT_TRUE(overlay.clear) << overlay.text;
  for (const std::uint32_t end : {0U, 1U}) {
    const auto tables = findings_->tables(EndpointId(end), TwoHostLab::flow());
    ASSERT_TRUE(tables) << tables.error().detail;
    EXPECT_FALSE(tables->mismatch) << tables->text;
    EXPECT_TRUE(tables->clear) << tables->text;
    ASSERT_EQ(tables->rows.size(), 2U);
    EXPECT_EQ(tables->rows[0].finding, RowFinding::kMatches) << tables->rows[0].text;
    EXPECT_EQ(tables->rows[1].finding, RowFinding::kMatches) << tables->rows[1].text;
  }
}

TEST_F(OvsLab, CountersNameThePeersOfAConversation) {
  for (const std::uint32_t end : {0U, 1U}) {
    const auto before = findings_->counters(EndpointId(end));
    EXPECT_EQ(lab_->probe(20), "20\n");
    const auto after = findings_->counters(EndpointId(end));
    ASSERT_TRUE(before && after) << (before ? after.error().detail : before.error().detail);
    EXPECT_EQ(findings_->name(after->rnic), TwoHostLab::endpoints()[EndpointId(end)].name);
    ASSERT_EQ(before->flows.size(), 1U) << "the probes of the set-up are in the tables";
    ASSERT_EQ(after->flows.size(), 1U);
    EXPECT_EQ(after->flows[0].peer, EndpointId(1 - end));
    EXPECT_GE(after->flows[0].bytes, before->flows[0].bytes + 20 * 42) << "headers alone";
    EXPECT_LT(after->flows[0].bytes, before->flows[0].bytes + 20 * 2'000);
    EXPECT_GT(after->flows[0].age, before->flows[0].age);
  }
}

TEST_F(OvsLab, TablesShowASilentBlackHole) {
  const std::string flow = lab_->datapath_flow('A', "in_port(" + lab_->tag() + "pA)");
  ASSERT_NE(flow, "");
  ASSERT_EQ(lab_->appctl('A', {"dpctl/mod-flow", flow, "drop"}), "");
  EXPECT_EQ(lab_->probe(5), "0\n");
  // OpenFlow is as it was: the walk must not find anything.
  const OverlayFinding overlay = findings_->overlay(TwoHostLab::flow());
  EXPECT_TRUE(overlay.clear) << overlay.text;
  const auto tables = findings_->tables(EndpointId(0), TwoHostLab::flow());
  ASSERT_TRUE(tables) << tables.error().detail;
  EXPECT_TRUE(tables->mismatch);
  EXPECT_EQ(tables->strongest, RowFinding::kAlteredAction) << tables->text;
  EXPECT_EQ(findings_->name(tables->culprit), "host-a/br-int");
  EXPECT_NE(tables->text.find("the datapath does drop"), std::string::npos) << tables->text;
  // The other end does as it is told.
  const auto other = findings_->tables(EndpointId(1), TwoHostLab::flow());
  ASSERT_TRUE(other) << other.error().detail;
  EXPECT_FALSE(other->mismatch) << other->text;
}

TEST_F(OvsLab, TablesShowASilentBlackHoleBehindTheTunnel) {
  const std::string flow = lab_->datapath_flow('B', "tunnel(");
  ASSERT_NE(flow, "");
  ASSERT_EQ(lab_->appctl('B', {"dpctl/mod-flow", flow, "drop"}), "");
  EXPECT_EQ(lab_->probe(5), "0\n");
  const auto tables = findings_->tables(EndpointId(1), TwoHostLab::flow());
  ASSERT_TRUE(tables) << tables.error().detail;
  EXPECT_EQ(tables->strongest, RowFinding::kAlteredAction) << tables->text;
  EXPECT_EQ(findings_->name(tables->culprit), "host-b/br-int");
}

TEST_F(OvsLab, TablesShowAFlowThatTakesTheSlowPath) {
  const std::string flow = lab_->datapath_flow('A', "in_port(" + lab_->tag() + "pA)");
  ASSERT_NE(flow, "");
  ASSERT_EQ(lab_->appctl('A', {"dpctl/del-flow", flow.substr(0, flow.find(','))}), "");
  // Open vSwitch believes that the entry is there, and does not make it again for a while.
  Expected<TableDiff> tables = fail(ErrorCode::kPending, "");
  std::string answered;
  {
    const std::jthread traffic([&] { answered = lab_->probe(250); });
    tables = findings_->tables(EndpointId(0), TwoHostLab::flow());
  }
  EXPECT_EQ(answered, "250\n");
  ASSERT_TRUE(tables) << tables.error().detail;
  EXPECT_EQ(tables->strongest, RowFinding::kMissing) << tables->text;
  EXPECT_EQ(findings_->name(tables->culprit), "host-a/br-int");
}

TEST_F(OvsLab, TablesDoNotMissAFlowThatIsIdle) {
  const FlowKey other{EndpointId(0), EndpointId(1), 1};
  ASSERT_EQ(lab_->add_flow('A', "br-int", "priority=50000,udp,udp_src=1,actions=output:10"), "");
  const std::jthread traffic([&] { lab_->probe(250); });
  const auto tables = findings_->tables(EndpointId(0), other);
  ASSERT_TRUE(tables) << tables.error().detail;
  EXPECT_FALSE(tables->mismatch) << tables->text;
}

TEST_F(OvsLab, WalkNamesTheDroppingRule) {
  ASSERT_EQ(lab_->add_flow('B', "br-int", "priority=60000,udp,udp_dst=4791,actions=drop"), "");
  EXPECT_EQ(lab_->probe(5), "0\n");
  const OverlayFinding overlay = findings_->overlay(TwoHostLab::flow());
  EXPECT_TRUE(overlay.available);
  EXPECT_FALSE(overlay.clear);
  EXPECT_EQ(overlay.kind, "missing-rule");
  EXPECT_EQ(findings_->name(overlay.culprit),
            "host-b/br-int table=0 priority=60000,udp,tp_dst=4791")
      << overlay.text;
}

TEST_F(OvsLab, WalkNamesTheBridgeOfATableMiss) {
  ASSERT_EQ(TwoHostLab::run({"ovs-ofctl",
                             "-O",
                             "OpenFlow13",
                             "del-flows",
                             lab_->run_directory('A') + "/br-int.mgmt",
                             "in_port=10"}),
            "");
  EXPECT_EQ(lab_->probe(5), "0\n");
  const OverlayFinding overlay = findings_->overlay(TwoHostLab::flow());
  EXPECT_EQ(overlay.kind, "missing-rule");
  EXPECT_EQ(findings_->name(overlay.culprit), "host-a/br-int") << overlay.text;
}

TEST_F(OvsLab, WalkNamesTheBridgeWithoutATunnelNeighbour) {
  ASSERT_EQ(lab_->add_flow('A', "br-ul", "priority=60000,arp,actions=drop"), "");
  lab_->appctl('A', {"tnl/neigh/flush"});
  const OverlayFinding overlay = findings_->overlay(TwoHostLab::flow());
  EXPECT_EQ(overlay.kind, "missing-neighbour");
  EXPECT_EQ(findings_->name(overlay.culprit), "host-a/br-ul") << overlay.text;
}

}  // namespace
}  // namespace bonescan::lab
