#include "detectors/localize/table_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

const std::string kActions =
    "set(tunnel(tun_id=0x64,dst=10.0.0.2,ttl=64,tp_dst=4789)),vxlan_sys_4789";

FlowEntry entry(const std::string& actions, Duration used = seconds(1), std::uint64_t packets = 9) {
  return {.present = true, .actions = actions, .packets = packets, .used = used};
}

/// Not in the table; its owner may still remember the flow.
FlowEntry absent(Duration used = Duration{}, std::uint64_t packets = 0) {
  return {.present = false, .actions = "", .packets = packets, .used = used};
}

FlowTableRow row(const std::string& expected, const FlowEntry& datapath, const FlowEntry& eswitch) {
  FlowTableRow made;
  made.match = "vni=100,dst=10.2.5.3";
  made.expected_actions = expected;
  made.datapath = datapath;
  made.eswitch = eswitch;
  return made;
}

FlowTableRow software_row(const FlowEntry& datapath) {
  FlowTableRow made = row(kActions, datapath, absent());
  made.hardware_expected = false;
  return made;
}

TEST(TableDiff, NamesAForeignEntryThatComesFirst) {
  FlowTableRow shadowed = row("output:vf0", entry("output:vf0"), entry("output:vf0"));
  shadowed.shadow = {.present = true, .actions = "drop", .packets = 12, .used = {}};
  shadowed.shadow_match = "pref 1 udp dst_port 4791";
  const RowDiff diff = compare(shadowed);
  EXPECT_EQ(to_string(diff.finding), "shadowed");
  EXPECT_NE(diff.text.find("pref 1 udp dst_port 4791 comes before"), std::string::npos)
      << diff.text;
  shadowed.shadow.actions = "output:vf0";
  EXPECT_EQ(to_string(compare(shadowed).finding), "matches");
}

TEST(TableDiff, BlamesTheBridgeWhereTheFlowIsInSoftware) {
  FlowTableRow altered = row("output:vf0", entry("drop"), {});
  altered.hardware_expected = false;
  const TableDiff diff =
      summarize({.rnic = ComponentId(4), .bridge = ComponentId(5), .rows = {altered}});
  EXPECT_EQ(to_string(diff.strongest), "altered-action");
  EXPECT_EQ(diff.culprit, ComponentId(5));
}

TEST(NormalizedActions, ComparesWhatMatters) {
  struct Case {
    const char* name;
    const char* left;
    const char* right;
    bool equal;
  };

  const Case cases[] = {
      {"blanks", " set( tunnel(a=1, b=2) ) , 3\n", "set(tunnel(a=1,b=2)),3", true},
      {"order of fields", "set(tunnel(b=2,a=1,dst=x)),3", "set(tunnel(dst=x,a=1,b=2)),3", true},
      {"order of nested fields",
       "set(tunnel(geneve({c=1},flags(y,x)),a=1)),3",
       "set(tunnel(a=1,geneve({c=1},flags(x,y)))),3",
       true},
      {"a set() inside another action",
       "clone(set(ip(b=2,a=1)),3)",
       "clone(set(ip(a=1,b=2)),3)",
       true},
      {"value of a field", "set(tunnel(a=1)),3", "set(tunnel(a=2)),3", false},
      {"order of actions", "set(ip(a=1)),3", "3,set(ip(a=1))", false},
      {"order of outputs in other brackets", "clone(1,2)", "clone(2,1)", false},
      {"a name that ends in set", "reset(2,1)", "reset(1,2)", false},
      {"nothing is a drop", "", "drop", true},
      {"blanks are a drop", "  ", "drop", true},
      {"unbalanced text is kept", "set(b,a", "set(a,b", false},
      {"closed too often", "3)", "3)", true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(normalized_actions(c.left) == normalized_actions(c.right), c.equal)
        << normalized_actions(c.left) << " / " << normalized_actions(c.right);
  }
  EXPECT_EQ(normalized_actions("set(tunnel(b=2,a=1)), 3"), "set(tunnel(a=1,b=2)),3");
}

TEST(NormalizedActions, SurvivesDeepNesting) {
  const std::string deep = std::string(5000, '(') + std::string(5000, ')');
  EXPECT_EQ(normalized_actions(deep), deep);
}

TEST(Compare, FindsWhatARowProves) {
  const std::string reordered =
      "set(tunnel(dst=10.0.0.2, tun_id=0x64, tp_dst=4789, ttl=64)), vxlan_sys_4789";
  const std::string wrong = "set(tunnel(tun_id=0x65,dst=10.0.0.2)),vxlan_sys_4789";

  struct Case {
    const char* name;
    FlowTableRow row;
    RowFinding finding;
  };

  const Case cases[] = {
      {"in both as expected",
       row(kActions, entry(kActions), entry(reordered)),
       RowFinding::kMatches},
      {"held by hardware alone (skip_sw)",
       row(kActions, absent(), entry(kActions)),
       RowFinding::kMatches},
      {"this datapath offloads nothing", software_row(entry(kActions)), RowFinding::kMatches},
      {"idle", row(kActions, absent(), absent()), RowFinding::kIdle},
      {"evicted long ago", row(kActions, absent(seconds(60), 100), absent()), RowFinding::kIdle},
      {"in use and gone", row(kActions, absent(seconds(2), 100), absent()), RowFinding::kMissing},
      {"counted by hardware and gone",
       row(kActions, absent(), absent(seconds(2), 100)),
       RowFinding::kMissing},
      {"stale counters took the eswitch entry",
       row(kActions, entry(kActions), absent()),
       RowFinding::kSoftwareOnly},
      {"both about to age out",
       row(kActions, entry(kActions, seconds(11)), absent()),
       RowFinding::kIdle},
      {"software entry outlives every grace",
       row(kActions, entry(kActions, seconds(40)), absent()),
       RowFinding::kSoftwareOnly},
      {"the eswitch does something else",
       row(kActions, entry(kActions), entry(wrong)),
       RowFinding::kAlteredAction},
      {"the datapath does something else",
       row(kActions, entry(wrong), entry(kActions)),
       RowFinding::kAlteredAction},
      {"the datapath drops", row(kActions, entry("drop"), absent()), RowFinding::kAlteredAction},
      {"dropped by everybody", row("drop", entry("drop"), entry("")), RowFinding::kMatches},
      {"drop, and nothing in the tables", row("drop", absent(), absent()), RowFinding::kIdle},
      {"no match means drop", row("", entry("drop"), absent()), RowFinding::kMatches},
      {"the eswitch forwards what is dropped",
       row("drop", absent(), entry(kActions)),
       RowFinding::kExtra},
      {"the datapath forwards what is dropped",
       row("drop", entry(kActions), absent()),
       RowFinding::kExtra},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const RowDiff diff = compare(c.row);
    EXPECT_EQ(to_string(diff.finding), to_string(c.finding));
    EXPECT_THAT(diff.text, HasSubstr("vni=100,dst=10.2.5.3"));
  }
}

TEST(Compare, CountersAloneAreNoMismatch) {
  // They restart after a modify, wrap, and lag; see the header.
  FlowTableRow jumped =
      row(kActions, entry(kActions, seconds(0), 1000), entry(kActions, seconds(9), 3));
  EXPECT_EQ(compare(jumped).finding, RowFinding::kMatches);
}

TEST(Compare, TheGraceFollowsTheOptions) {
  const FlowTableRow ageing = row(kActions, entry(kActions, seconds(31)), absent());
  EXPECT_EQ(compare(ageing).finding, RowFinding::kSoftwareOnly);
  EXPECT_EQ(compare(ageing, {.max_idle = seconds(30)}).finding, RowFinding::kIdle);
}

TEST(Summarize, NamesTheStrongestRow) {
  const FlowTableRow good = row(kActions, entry(kActions), entry(kActions));
  const FlowTableRow idle = row(kActions, absent(), absent());
  const FlowTableRow slow = row(kActions, entry(kActions, seconds(1), 1234), absent());
  const FlowTableRow extra = row("drop", absent(), entry(kActions));

  struct Case {
    const char* name;
    std::vector<FlowTableRow> rows;
    bool mismatch;
    bool clear;
    RowFinding strongest;
    const char* text;
  };

  const Case cases[] = {
      {"clean",
       {good, idle},
       false,
       true,
       RowFinding::kMatches,
       "1 active flow as OpenFlow says, 1 idle"},
      {"slow path",
       {good, slow, idle},
       true,
       false,
       RowFinding::kSoftwareOnly,
       "1 of 2 active flows not as OpenFlow says; encap of vni=100,dst=10.2.5.3: the datapath "
       "holds it (1234 packets, last 1.0 s ago), the eswitch does not"},
      {"the worse of two",
       {slow, extra, good},
       true,
       false,
       RowFinding::kExtra,
       "2 of 3 active flows"},
      {"silence is not clear", {idle, idle}, false, false, RowFinding::kIdle, "say nothing"},
      {"nothing asked", {}, false, false, RowFinding::kIdle, "say nothing"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const TableDiff diff =
        summarize({.rnic = ComponentId(4), .bridge = ComponentId(5), .rows = c.rows});
    EXPECT_EQ(diff.culprit, ComponentId(4));
    EXPECT_EQ(diff.mismatch, c.mismatch);
    EXPECT_EQ(diff.clear, c.clear);
    EXPECT_EQ(to_string(diff.strongest), to_string(c.strongest));
    EXPECT_EQ(diff.rows.size(), c.rows.size());
    EXPECT_THAT(diff.text, HasSubstr(c.text));
  }
}

TEST(CompareCounters, ConvictsAnEntryOnlyByTwoReadingsUnderTraffic) {
  struct Case {
    const char* name;
    CounterReads reads;
    RowFinding finding;
  };

  const Case cases[] = {
      {"counts on", {.entry_before = 9, .entry_now = 19, .unaccounted = 100}, RowFinding::kMatches},
      {"no traffic", {.entry_before = 9, .entry_now = 9, .unaccounted = 0}, RowFinding::kMatches},
      {"lag", {.entry_before = 9, .entry_now = 9, .unaccounted = 4}, RowFinding::kMatches},
      {"started anew",
       {.entry_before = 9, .entry_now = 1, .unaccounted = 50},
       RowFinding::kMatches},
      {"stands still",
       {.entry_before = 9, .entry_now = 9, .unaccounted = 5},
       RowFinding::kStandsStill},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const RowDiff diff = compare_counters(software_row(entry(kActions)), c.reads);
    EXPECT_EQ(diff.finding, c.finding);
  }
  const RowDiff diff = compare_counters(row(kActions, absent(), entry(kActions)),
                                        {.entry_before = 9, .entry_now = 9, .unaccounted = 50});
  EXPECT_THAT(diff.text, HasSubstr("OpenFlow counted 50 packets that no entry did"));
  EXPECT_EQ(diff.owner, TableOwner::kEswitch);
  EXPECT_TRUE(is_mismatch(diff.finding));
}

}  // namespace
}  // namespace bonescan
