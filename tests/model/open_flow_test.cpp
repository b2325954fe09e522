#include "model/overlay/open_flow.h"

#include <vector>

namespace bonescan {
namespace {

Time at_s(std::int64_t s) {
  return kStartOfRun + std::chrono::seconds(s);
}

struct Bridges {
  Fabric fabric{{.segments = 2, .hosts_per_segment = 4, .rails = 2, .aggregation_switches = 2}};
  OpenFlow rules{fabric};
  RnicId source = fabric.rnic(fabric.host(0, 1), 0);
  RnicId target = fabric.rnic(fabric.host(1, 2), 1);
  HostId here = fabric.host_of(source);
  HostId there = fabric.host_of(target);
};

TEST(OpenFlow, ForwardsEverythingUntilARuleChanges) {
  const Bridges b;
  EXPECT_FALSE(b.rules.changed(b.here));
  EXPECT_TRUE(b.rules.translate_encap(b.source, b.target, at_s(5)).forwards());
  EXPECT_TRUE(b.rules.translate_decap(b.target, at_s(5)).forwards());
}

TEST(OpenFlow, TranslatesByTheVersionOfTheTime) {
  Bridges b;
  const RuleKey encap{b.here, RuleTable::kEncap, b.target};
  b.rules.change(encap, RuleState::kMissing, at_s(10));
  b.rules.change(encap, RuleState::kPresent, at_s(20));
  b.rules.change(encap, RuleState::kLooping, at_s(30));
  b.rules.change(encap, RuleState::kDropping, at_s(30));
  struct Case {
    std::int64_t s;
    RuleState state;
  };
  for (const Case& c : {Case{0, RuleState::kPresent},
                        Case{9, RuleState::kPresent},
                        Case{10, RuleState::kMissing},
                        Case{19, RuleState::kMissing},
                        Case{20, RuleState::kPresent},
                        Case{30, RuleState::kDropping},
                        Case{99, RuleState::kDropping}}) {
    SCOPED_TRACE(c.s);
    const Translation found = b.rules.translate_encap(b.source, b.target, at_s(c.s));
    EXPECT_EQ(b.rules.state(encap, at_s(c.s)), c.state);
    EXPECT_EQ(found.state, c.state);
    EXPECT_EQ(found.forwards(), c.state == RuleState::kPresent);
    if (!found.forwards()) {
      EXPECT_EQ(found.rule, encap);
    }
  }
}

/// Each table is asked about the end it is keyed by, and about no other.
TEST(OpenFlow, ARuleTouchesOnlyItsOwnFlows) {
  struct Case {
    const char* name;
    RuleTable table;
    bool encap_to_target, encap_to_other, encap_from_other, decap_here;
  };
  for (const Case& c : {Case{"classify", RuleTable::kClassify, false, false, true, true},
                        Case{"encap", RuleTable::kEncap, false, true, false, true},
                        Case{"deliver", RuleTable::kDeliver, true, true, true, false}}) {
    SCOPED_TRACE(c.name);
    Bridges b;
    const RnicId endpoint = c.table == RuleTable::kEncap ? b.target : b.source;
    b.rules.change({b.here, c.table, endpoint}, RuleState::kMissing, at_s(1));
    const RnicId other_target = b.fabric.rnic(b.fabric.host(1, 3), 1);
    const RnicId other_source = b.fabric.rnic(b.here, 1);
    const auto encap = [&](RnicId from, RnicId to) {
      return b.rules.translate_encap(from, to, at_s(2)).forwards();
    };
    EXPECT_EQ(encap(b.source, b.target), c.encap_to_target);
    EXPECT_EQ(encap(b.source, other_target), c.encap_to_other);
    EXPECT_EQ(encap(other_source, b.target), c.encap_from_other);
    EXPECT_EQ(b.rules.translate_decap(b.source, at_s(2)).forwards(), c.decap_here);
    EXPECT_TRUE(b.rules.translate_decap(b.target, at_s(2)).forwards());
    EXPECT_TRUE(b.rules.changed(b.here));
    EXPECT_FALSE(b.rules.changed(b.there));
  }
}

/// Classify comes first in the pipeline: it is the one that is named.
TEST(OpenFlow, NamesTheFirstRuleThatFails) {
  Bridges b;
  const RuleKey classify{b.here, RuleTable::kClassify, b.source};
  b.rules.change({b.here, RuleTable::kEncap, b.target}, RuleState::kLooping, at_s(1));
  b.rules.change(classify, RuleState::kMissing, at_s(2));
  EXPECT_EQ(b.rules.translate_encap(b.source, b.target, at_s(3)).rule, classify);
}

TEST(OpenFlow, NamesRulesAndAddresses) {
  const Bridges b;
  EXPECT_EQ(b.rules.bridge_name(b.here), "host-0.01/br-int");
  EXPECT_EQ(b.rules.rule_name({b.here, RuleTable::kClassify, b.source}, 100),
            "host-0.01/br-int table=0 in_port=vf-0");
  EXPECT_EQ(b.rules.rule_name({b.here, RuleTable::kEncap, b.target}, 100),
            "host-0.01/br-int table=10 vni=100,dst=10.1.2.2");
  EXPECT_EQ(b.rules.rule_name({b.there, RuleTable::kDeliver, b.target}, 7),
            "host-1.02/br-int table=20 vni=7,dst=10.1.2.2");
  EXPECT_EQ(underlay_address(b.fabric, b.target), "172.17.1.3");
}

}  // namespace
}  // namespace bonescan
