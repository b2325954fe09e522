// Real Open vSwitch on two hosts: each inconsistency is made with Open vSwitch's own tools, and the
// overlay walk or the table check must name the host, the bridge and the rule.
#include "tests/system/ovs_lab/ovs_findings.h"
#include "tests/system/ovs_lab/two_host_lab.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
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
