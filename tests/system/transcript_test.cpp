// What the program prints, word for word.  A change is wanted or a mistake: look, then
// tools/regen_golden.sh.
#include "tests/support/bonescan_cli.h"
#include "tests/support/golden_text.h"

namespace bonescan::fakes {
namespace {

std::string transcript(const Arguments& arguments) {
  const ChildResult result = bonescan(arguments, {.working_directory = BONESCAN_SOURCE_DIR});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  return result.out;
}

TEST(Transcript, OfHelp) {
  expect_golden_text(transcript({"--help"}), "cli/help.txt");
}

TEST(Transcript, OfTheHelpOfRun) {
  expect_golden_text(transcript({"run", "--help"}), "cli/run_help.txt");
}

TEST(Transcript, OfCheck) {
  expect_golden_text(transcript({"check", "scenarios/quickstart.yaml"}), "cli/check.txt");
}

/// Deterministic runs: their incidents have the same ids everywhere.
class RunTranscript : public testing::Test {
 protected:
  std::string run(const std::string& scenario) {
    const std::string out = directory_.file(scenario);
    run_report("scenarios/smoke/" + scenario + ".yaml", out);
    return out;
  }

  TemporaryDirectory directory_;
};

TEST_F(RunTranscript, OfExplainedStaleCounters) {
  expect_golden_text(transcript({"explain", run("stale-flow-counters")}),
                     "cli/explain_stale_flow_counters.txt");
}

TEST_F(RunTranscript, OfAnExplainedOverlayLoop) {
  expect_golden_text(transcript({"explain", run("overlay-loop")}), "cli/explain_overlay_loop.txt");
}

TEST_F(RunTranscript, OfAScore) {
  expect_golden_text(transcript({"score", run("crc-error")}), "cli/score_crc_error.txt");
}

TEST_F(RunTranscript, OfAHealthyRun) {
  const std::string out = run("healthy");
  expect_golden_text(transcript({"score", out}), "cli/score_healthy.txt");
  EXPECT_EQ(transcript({"explain", out}), "") << "nothing happened, so there is nothing to say";
}

TEST_F(RunTranscript, OfAnIncidentByTheFirstDigitsOfItsId) {
  const std::string out = run("overlay-loop");
  const std::string id = report_in(out)["incidents"][0]["id"];
  const std::string all = transcript({"explain", out});
  EXPECT_EQ(transcript({"explain", out, "--incident", id}), all);
  EXPECT_EQ(transcript({"explain", out, "--incident", id.substr(0, 4)}), all);
}

TEST_F(RunTranscript, OfAComparison) {
  const std::string first = run("crc-error");
  const std::string second = run("overlay-loop");
  const std::string text = transcript({"compare", first, second});
  EXPECT_THAT(text, testing::HasSubstr("smoke-crc-error"));
  EXPECT_THAT(text, testing::HasSubstr("smoke-overlay-loop"));
  EXPECT_TRUE(nlohmann::json::accept(transcript({"compare", first, second, "--json"})));
}

}  // namespace
}  // namespace bonescan::fakes
