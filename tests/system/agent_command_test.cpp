// `bonescan agent` on a machine as it is: here without an RDMA device, as most are.
#include "tests/support/bonescan_cli.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;

class AgentCommand : public testing::Test {
 protected:
  AgentCommand() {
    std::ofstream(config()) << "agent: {host: host-a, metrics: '127.0.0.1:0'}\n"
                               "inventory:\n"
                               "  - {name: host-a/rnic-0, host: host-a, device: no_such_rnic}\n";
  }

  std::string config() const { return directory_.file("agent.yaml"); }

  ChildResult call(const Arguments& more) const {
    Arguments arguments = {"agent", "--config", config()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return bonescan(arguments, {.working_directory = directory_.file("")});
  }

  /// Exit code, and one sentence that has this in it; nothing is left behind.
  void expect(const Arguments& more, int exit_code, const std::string& sentence) {
    SCOPED_TRACE(sentence);
    const auto before = snapshot(directory_.file(""));
    const ChildResult result = call(more);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(sentence));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(snapshot(directory_.file("")), before) << "something was left behind";
  }

  TemporaryDirectory directory_;
};

TEST_F(AgentCommand, SaysThatThereIsNoSuchDevice) {
  expect({"--standalone", "--out", "run"}, 4, "bonescan: device no_such_rnic: ");
  expect({"--standalone"}, 4, "no_such_rnic");
}

TEST_F(AgentCommand, ChecksWithoutRunning) {
  const ChildResult text = call({"--check"});
  EXPECT_EQ(text.exit_code, 4);
  EXPECT_THAT(text.out, HasSubstr("missing"));
  EXPECT_THAT(text.out, HasSubstr("device no_such_rnic"));
  EXPECT_THAT(text.out, HasSubstr("ok       disk"));
  EXPECT_THAT(text.err, HasSubstr("bonescan: the agent cannot run here: device no_such_rnic"));

  const ChildResult json = call({"--check", "--json"});
  EXPECT_EQ(json.exit_code, 4);
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed["schema_version"], 1);
  EXPECT_EQ(parsed["can_run"], false);
  EXPECT_FALSE(parsed["checks"].empty());
  EXPECT_FALSE(std::filesystem::exists(directory_.file("runs")));
}

TEST_F(AgentCommand, RefusesWrongUsage) {
  for (const Arguments& arguments : std::vector<Arguments>{
           {}, {"--standalone", "--check"}, {"--standalone", "--json"}, {"--dance"}}) {
    EXPECT_EQ(call(arguments).exit_code, 2);
  }
  EXPECT_EQ(bonescan({"agent", "--standalone"}).exit_code, 2);
  expect({"--standalone", "--duration", "soon"}, 2, "--duration: expected a duration from 1s on");
  expect({"--standalone", "--duration", "10ms"}, 2, "a run takes at least one visit period");
}

TEST_F(AgentCommand, RefusesABrokenConfiguration) {
  std::ofstream(config()) << "agent: {hots: host-a}\n";
  expect({"--standalone"}, 2, "agent.yaml:1:9: agent.hots: expected a known key");
  expect({"--check"}, 2, "did you mean 'host'?");
  std::filesystem::remove(config());
  expect({"--standalone"}, 2, "agent.yaml: (file): expected a readable file");
}

TEST_F(AgentCommand, RefusesADirectoryThatHoldsARun) {
  run_report("scenarios/smoke/healthy.yaml", directory_.file("run"));
  // The device is missing as well; what matters is that nothing changes.
  expect({"--standalone", "--out", "run"}, 4, "bonescan: ");
  EXPECT_THAT(call({"--check", "--out", "run"}).out, HasSubstr("run already holds a run"));
}

TEST_F(AgentCommand, ReadsItsExample) {
  const ChildResult result =
      bonescan({"agent", "--check", "--config", source_file("scenarios/agent/two-hosts.yaml")});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, HasSubstr("device mlx5_0"));
}

}  // namespace
}  // namespace bonescan::fakes
