// What the program answers when it cannot do what it was asked, and that it then leaves nothing
// behind.
#include "tests/support/bonescan_cli.h"

namespace bonescan::fakes {
namespace {

using testing::HasSubstr;

const std::string kScenario = source_file("scenarios/smoke/healthy.yaml");

/// A scratch directory with one finished run, `run`, and a file that is no directory.
class ExitCodes : public testing::Test {
 protected:
  ExitCodes() {
    std::ofstream(directory_.file("plain")) << "not a directory\n";
    std::ofstream(directory_.file("broken.csv")) << "a,b\n1\n";
    std::ofstream(directory_.file("broken.yaml")) << "name: [\n";
    run_report("scenarios/smoke/switch-port-down.yaml", run());
    before_ = snapshot(directory_.file(""));
  }

  std::string run() const { return directory_.file("run"); }

  ChildResult call(const Arguments& arguments) const {
    return bonescan(arguments, {.working_directory = directory_.file("")});
  }

  void expect(int exit_code, const std::string& text, const Arguments& arguments) const {
    std::string line;
    for (const std::string& argument : arguments) {
      line += " " + argument;
    }
    SCOPED_TRACE("bonescan" + line);
    const ChildResult result = call(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    EXPECT_THAT(result.out + result.err, HasSubstr(text));
    EXPECT_THAT(result.err, testing::Not(HasSubstr("internal error")));
    EXPECT_TRUE(exit_code == 0 || result.out.empty()) << "data without success: " << result.out;
    EXPECT_EQ(snapshot(directory_.file("")), before_) << "something was left behind";
  }

  TemporaryDirectory directory_;
  std::map<std::string, std::string> before_;
};

TEST_F(ExitCodes, AreZeroForHelpAndVersion) {
  expect(0, "check", {"--help"});
  expect(0, "bonescan 0.", {"--version"});
  for (const char* command : {"check",
                              "run",
                              "replay",
                              "score",
                              "compare",
                              "export",
                              "explain",
                              "report",
                              "agent",
                              "flows",
                              "topology"}) {
    expect(0, "Usage: bonescan ", {command, "--help"});
  }
}

TEST_F(ExitCodes, AreTwoForWrongUsage) {
  expect(2, "subcommand is required", {});
  expect(2, "unknown subcommand 'dance'; there are: check, run, ", {"dance"});
  expect(2, "--dance", {"run", kScenario, "--dance"});
  expect(2, "FILE", {"run"});
  expect(2, "--threads", {"run", kScenario, "--threads", "0"});
  expect(2, "found '-1'", {"run", kScenario, "--seed", "-1"});
  expect(2, "found '18446744073709551616'", {"run", kScenario, "--seed", "18446744073709551616"});
  expect(2, "--format", {"export", "run", "--format", "xml"});
  expect(2, "SECOND", {"compare", "run"});
}

TEST_F(ExitCodes, AreTwoForInputThatIsNotThere) {
  for (const char* command : {"score", "explain", "report", "replay", "export"}) {
    expect(2, "missing", {command, "missing"});
  }
  expect(2, "missing", {"compare", "run", "missing"});
  expect(2, "missing", {"score", "--json", "run", "missing"});
  expect(2, "missing", {"run", "missing.yaml", "--out", "new"});
  expect(2, "missing", {"replay", "missing.csv", "--out", "new"});
}

TEST_F(ExitCodes, AreTwoForInputThatIsBroken) {
  expect(2, "plain", {"score", "plain"});
  expect(2, "plain", {"replay", "plain", "--out", "new"});
  expect(2, "broken.yaml:", {"run", "broken.yaml", "--out", "new"});
  expect(2, "broken.csv:", {"replay", "broken.csv", "--out", "new"});
  expect(2, "no incident has the id ffff", {"explain", "run", "--incident", "ffff"});
}

TEST_F(ExitCodes, AreFourForADirectoryThatAlreadyHoldsARun) {
  const std::string advice = "already holds a run; give another --out or remove the directory";
  expect(4, advice, {"run", kScenario, "--out", "run"});
  expect(4, advice, {"replay", "run", "--out", "run"});
  const TemporaryDirectory elsewhere;
  const std::string csv = elsewhere.file("visits.csv");
  ASSERT_EQ(call({"export", "run", "--out", csv}).exit_code, 0);
  expect(4, advice, {"replay", csv, "--out", "run"});
}

TEST_F(ExitCodes, AreFourForAPlaceThatCannotBeWritten) {
  expect(4, "plain/new", {"run", kScenario, "--out", "plain/new"});
  expect(4, "plain/new", {"replay", "run", "--out", "plain/new"});
  expect(4, "plain/new", {"export", "run", "--out", "plain/new"});
}

TEST_F(ExitCodes, AreFourForAnOutputThatIsFull) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full";
  }
  const std::vector<Arguments> commands = {{"check", kScenario},
                                           {"score", run()},
                                           {"score", run(), "--json"},
                                           {"explain", run()},
                                           {"export", run()},
                                           {"compare", run(), run()}};
  for (const Arguments& arguments : commands) {
    SCOPED_TRACE(arguments.front());
    const ChildResult result = bonescan(arguments, {.stdout_file = "/dev/full"});
    EXPECT_EQ(result.exit_code, 4) << result.err;
    EXPECT_THAT(result.err, testing::ContainsRegex("can.?not be written|could not be written"));
  }
}

}  // namespace
}  // namespace bonescan::fakes
