// `bonescan flows` as a user calls it, on dumps of real hosts.  Transcripts are compared word for
// word.
#include "tests/support/bonescan_cli.h"
#include "tests/support/golden_text.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tool_output.h"

#include <fstream>

namespace bonescan::fakes {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A directory with the dumps of one host with a userspace datapath (`a_*`) and of one whose kernel
/// datapath offloads to tc.
class FlowsTranscript : public testing::Test {
 protected:
  FlowsTranscript() {
    write("a_dpctl.txt", tool_output("datapath_flows.host_a_m.txt"));
    write("a_trace.txt", tool_output("openflow_trace.host_a.txt"));
    write("a_ports.txt", tool_output("upcall_stats.host_a_dpctl_show.txt"));
    write("a_dpif.txt", tool_output("upcall_stats.host_a_dpif_show.txt"));
    write("dpctl.txt", tool_lines("lab.kernel_tc_none.txt", 12, 17));
    write("p1.txt", tool_lines("lab.kernel_tc_none.txt", 49, 86));
    write("ports.txt", tool_lines("lab.kernel_tc_none.txt", 36, 45));
    write(
        "dpif.txt",
        "system@ovs-system: hit:0 missed:6\n  br0:\n    p1 1/2: (system)\n    p2 2/3: (system)\n");
    write("trace.txt", kernel_trace("3"));
    write("openflow.txt", rules(128));
    write("openflow_before.txt", rules(28));
  }

  static std::string kernel_trace(const std::string& actions) {
    return "Flow: icmp,in_port=1,vlan_tci=0x0000,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:02,"
           "nw_src=192.168.50.1,nw_dst=192.168.50.2,nw_tos=0,nw_ecn=0,nw_ttl=64,nw_frag=no,"
           "icmp_type=8,icmp_code=0\n\nbridge(\"br0\")\n---------------\n 0. in_port=1, priority "
           "32768\n    output:2\n\nFinal flow: unchanged\nMegaflow: recirc_id=0,eth,ip,in_port=1,"
           "nw_frag=no\nDatapath actions: " +
           actions + "\n";
  }

  static std::string rules(int packets) {
    return "NXST_FLOW reply (xid=0x4):\n cookie=0x0, duration=14.970s, table=0, n_packets=" +
           std::to_string(packets) + ", n_bytes=11522, idle_age=1, in_port=1 actions=output:2\n";
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.file(name), std::ios::binary) << text;
  }

  /// Replaces the first `old` in a file.
  void alter(const std::string& name, const std::string& old, const std::string& fresh) const {
    std::string text = read_file(directory_.file(name));
    ASSERT_NE(text.find(old), std::string::npos) << name << " has no " << old;
    write(name, text.replace(text.find(old), old.size(), fresh));
  }

  ChildResult flows(Arguments arguments) const {
    arguments.insert(arguments.begin(), "flows");
    return bonescan(arguments, {.working_directory = directory_.file("")});
  }

  std::string found(const Arguments& arguments) const {
    const ChildResult result = flows(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
    return result.out;
  }

  void expect_bad_input(const Arguments& arguments, const std::string& text) const {
    SCOPED_TRACE(text);
    const ChildResult result = flows(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_THAT(result.err, HasSubstr("hint: "));
  }

  TemporaryDirectory directory_;
  const Arguments userspace_ = {"--datapath",
                                "a_dpctl.txt",
                                "--trace",
                                "a_trace.txt",
                                "--ports",
                                "a_ports.txt",
                                "a_dpif.txt"};
  const Arguments kernel_ = {"--datapath",
                             "dpctl.txt",
                             "--trace",
                             "trace.txt",
                             "--tc",
                             "p1.txt",
                             "--ports",
                             "ports.txt",
                             "dpif.txt",
                             "--offload",
                             "tc"};
};

Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_F(FlowsTranscript, OfHelp) {
  const ChildResult result = flows({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  expect_golden_text(result.out, "cli/flows_help.txt");
}

TEST_F(FlowsTranscript, OfHealthyHosts) {
  for (const Arguments& host : {userspace_, kernel_}) {
    const ChildResult result = flows(host);
    EXPECT_EQ(result.exit_code, 0) << result.out;
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(result.out, HasSubstr(": 0 findings, "));
  }
  expect_golden_text(flows(kernel_).out, "cli/flows_healthy.txt");
}

TEST_F(FlowsTranscript, OfAnAlteredMegaflow) {
  // As dpctl/mod-flow leaves it behind: the OpenFlow rule is as it was.
  std::string dump = read_file(directory_.file("a_dpctl.txt"));
  const std::size_t icmp = dump.find("icmp(type=8/0");
  const std::size_t actions = dump.find("actions:", icmp);
  dump.replace(actions, dump.find(", dp-extra-info", actions) - actions, "actions:drop");
  write("a_dpctl.txt", dump);
  expect_golden_text(found(userspace_), "cli/flows_altered.txt");
}

TEST_F(FlowsTranscript, OfAForeignFilter) {
  const std::string filter = tool_lines("lab.kernel_tc_none.txt", 108, 119);
  std::string listing = filter;
  const std::string head = "filter protocol ip flower";
  for (std::size_t at = listing.find(head); at != std::string::npos; at = listing.find(head, at)) {
    listing.replace(at, head.size(), "filter protocol ip pref 1 flower");
  }
  write("p1.txt", listing + tool_lines("lab.kernel_tc_none.txt", 49, 86));
  expect_golden_text(found(kernel_), "cli/flows_shadowed.txt");
}

TEST_F(FlowsTranscript, OfADeletedFilterUnderTraffic) {
  // The entry is gone from tc and so from the dump, which reads tc; OpenFlow counts on by upcalls.
  write("before.txt", tool_lines("lab.kernel_tc_none.txt", 12, 17));
  write("dpctl.txt", tool_lines("lab.kernel_tc_none.txt", 13, 17));
  write("p1.txt", tool_lines("lab.kernel_tc_none.txt", 61, 86));
  const ChildResult one_dump = flows(kernel_);
  EXPECT_EQ(one_dump.exit_code, 0) << "one dump convicts no counter: " << one_dump.out;
  expect_golden_text(
      found(with(kernel_,
                 {"--openflow", "openflow.txt", "--before", "before.txt", "openflow_before.txt"})),
      "cli/flows_missing.txt");
}

TEST_F(FlowsTranscript, OfAnEntryThatStandsStill) {
  write("before.txt", read_file(directory_.file("dpctl.txt")));
  const Arguments reads = with(
      kernel_, {"--openflow", "openflow.txt", "--before", "before.txt", "openflow_before.txt"});
  expect_golden_text(found(reads), "cli/flows_stands_still.txt");
  alter("dpctl.txt", "packets:23,", "packets:123,");
  EXPECT_EQ(flows(reads).exit_code, 0) << "the entry takes what OpenFlow counts";
}

TEST_F(FlowsTranscript, OfAnExtraEntryAndOneInSoftware) {
  write("trace.txt", kernel_trace("drop"));
  alter("dpctl.txt", "used:0.761s, dp:tc", "used:0.761s, dp:ovs");
  write(
      "p1.txt",
      tool_lines("lab.kernel_tc_none.txt", 49, 61) + tool_lines("lab.kernel_tc_none.txt", 75, 86));
  const std::string text = found(kernel_);
  expect_golden_text(text, "cli/flows_extra_and_software.txt");
}

TEST_F(FlowsTranscript, SaysWhatCannotBeJudgedWithoutATrace) {
  const ChildResult result = flows({"--datapath", "dpctl.txt", "--offload", "hardware"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("without --trace nothing says what OpenFlow expects"));
  EXPECT_THAT(result.out, HasSubstr("software-only"));
}

TEST_F(FlowsTranscript, OfAnEmptyDump) {
  write("empty.txt", "");
  const ChildResult result = flows({"--datapath", "empty.txt"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "0 flows: 0 findings, 0 as expected, 0 idle\n");
}

TEST_F(FlowsTranscript, OfJson) {
  alter("p1.txt", "device p2", "device p9");
  const std::string text = found(with(kernel_, {"--json", "--openflow", "openflow.txt"}));
  expect_golden_text(text, "cli/flows_altered.json");
  const json report = json::parse(text);
  EXPECT_EQ(report["findings"][0]["kind"], "altered-action");
  EXPECT_EQ(report["findings"][0]["eswitch"]["actions"], "p9");
  EXPECT_EQ(report["findings"][0]["openflow_rule"], "table=0,priority=32768,in_port=1");
}

/// What SARIF 2.1.0 requires of a log with results in files
/// (sections 3.13, 3.14, 3.19, 3.27, 3.28).
TEST_F(FlowsTranscript, OfSarif) {
  alter("p1.txt", "device p2", "device p9");
  const json log = json::parse(found(with(kernel_, {"--sarif"})));
  EXPECT_EQ(log["version"], "2.1.0");
  EXPECT_THAT(std::string(log["$schema"]), HasSubstr("sarif-2.1.0"));
  ASSERT_EQ(log["runs"].size(), 1U);
  const json& run = log["runs"][0];
  const json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "bonescan");
  EXPECT_EQ(driver["rules"].size(), 6U);
  for (const json& rule : driver["rules"]) {
    EXPECT_TRUE(rule["id"].is_string());
    EXPECT_TRUE(rule["shortDescription"]["text"].is_string());
    EXPECT_THAT(rule["defaultConfiguration"]["level"], testing::AnyOf("error", "warning"));
  }
  ASSERT_EQ(run["results"].size(), 1U);
  const json& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "altered-action");
  EXPECT_EQ(driver["rules"][std::size_t(result["ruleIndex"])]["id"], result["ruleId"]);
  EXPECT_EQ(result["level"], "error");
  EXPECT_TRUE(result["message"]["text"].is_string());
  const json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "p1.txt");
  EXPECT_EQ(place["region"]["startLine"], 2);
  const json healthy = json::parse(flows(with(userspace_, {"--sarif"})).out);
  EXPECT_TRUE(healthy["runs"][0]["results"].is_array()) << "no results is an empty list";
}

TEST_F(FlowsTranscript, OfBadInput) {
  write("broken.txt", "\nin_port(1), packets:x, actions:2\n");
  write("refused.txt", tool_output("datapath_flows.bad_type.txt"));
  write("plain.txt", tool_output("datapath_flows.host_a_plain.txt"));
  write("session.txt", tool_file("openflow_trace.host_a.txt"));
  expect_bad_input({"--datapath", "broken.txt"}, "broken.txt:2:13: expected packets:NUMBER");
  expect_bad_input({"--datapath", "refused.txt"}, "Failed to parse type (bogus)");
  expect_bad_input({"--datapath", "absent.txt"}, "absent.txt: expected a file that can be read");
  expect_bad_input({"--datapath", "."}, ".: expected a file that can be read");
  expect_bad_input({"--datapath", "plain.txt", "--trace", "session.txt"},
                   "session.txt:1:1: expected \"Flow: ...\"");
  expect_bad_input({"--datapath", "a_dpctl.txt", "--trace", "a_trace.txt"}, "give --ports");
  expect_bad_input({"--datapath", "plain.txt", "--tc", "p1.txt"}, "give --ports");
  expect_bad_input({"--datapath", "plain.txt", "--offload", "tc"}, "dump with -m");
  expect_bad_input({"--datapath", "dpctl.txt", "--tc", "p1=dpctl.txt"}, "dpctl.txt:1:1: expected");
  EXPECT_EQ(flows({}).exit_code, 2);
  EXPECT_EQ(flows({"--datapath", "dpctl.txt", "--offload", "magic"}).exit_code, 2);
  EXPECT_EQ(flows({"--datapath", "dpctl.txt", "--json", "--sarif"}).exit_code, 2);
}

}  // namespace
}  // namespace bonescan::fakes
