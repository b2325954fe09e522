#include "tests/support/golden_text.h"
#include "tests/support/sample_run.h"
#include "tools/report/explain.h"
#include "tools/report/format.h"
#include "tools/report/table.h"

#include <sstream>

namespace bonescan {
namespace {

TEST(Format, FitsByCodePointsAndNotByBytes) {
  EXPECT_EQ(fit("abc", 5), "abc  ");
  EXPECT_EQ(fit("abcdef", 4), "abc…");
  EXPECT_EQ(fit("µµµµµ", 3), "µµ…");
  EXPECT_EQ(fit("µ", 3), "µ  ");
  EXPECT_EQ(display_width("µs …"), 4U);
}

TEST(Format, ClockRoundsToTenths) {
  EXPECT_EQ(clock_text(at_s(0)), "0:00.0");
  EXPECT_EQ(clock_text(at_s(59.96)), "1:00.0");
  EXPECT_EQ(clock_text(at_s(787.54)), "13:07.5");
}

TEST(Table, EqualsTheTranscript) {
  const RunData run = sample_run();
  expect_golden_text(report_table(run, evaluate(run)), "eval/table.txt");
}

TEST(Table, IsNeverWiderThanATerminal) {
  RunData run = sample_run();
  run.info.scenario_name = std::string(300, 'n');
  run.truth[0].name = "\x1b[31m\n" + std::string(200, 'x');
  run.truth[1].kind = std::string(200, 'y');
  run.truth[2].component = std::string(200, 'z');
  run.incidents[0].evidence.push_back({at_s(1), std::string(200, 'e'), false, ""});
  for (const bool truth : {true, false}) {
    run.info.truth_available = truth;
    std::istringstream lines(report_table(run, evaluate(run)));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), 120U) << line;
      EXPECT_EQ(line.find('\x1b'), std::string::npos);
    }
  }
}

TEST(Table, SaysThatNothingCanBeScoredWithoutTruth) {
  RunData run = sample_run();
  run.info.truth_available = false;
  run.info.mode = "replay";
  const std::string table = report_table(run, evaluate(run));
  EXPECT_THAT(table, testing::HasSubstr("no truth to score against  [replay]"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("precision")));
}

TEST(Table, MarksACutRun) {
  RunData run = sample_run();
  run.result.complete = false;
  EXPECT_THAT(report_table(run, evaluate(run)), testing::HasSubstr("NOT COMPLETE"));
}

TEST(Explain, EqualsTheTranscript) {
  const RunData run = sample_run();
  expect_golden_text(explain_incident(run, evaluate(run), 0), "eval/explain.txt");
}

TEST(Explain, KeepsControlCharactersFromTheTerminal) {
  RunDataBuilder b;
  b.incident({.opened_s = 100}).kind = "\x1b[31mred";
  EXPECT_THAT(explain_incident(b.run, evaluate(b.run), 0),
              testing::Not(testing::HasSubstr("\x1b")));
}

TEST(Explain, SortsTheEvidenceAndShowsTenPairs) {
  RunDataBuilder b;
  Incident& incident = b.incident({.opened_s = 100});
  incident.evidence = {{at_s(102), "underlay-vote", false, "second"},
                       {at_s(101), "loss-rule", false, "first"}};
  for (std::uint32_t target = 1; target <= 12; ++target) {
    incident.pairs.push_back(b.pair(0, target + 8));
  }
  const std::string text = explain_incident(b.run, evaluate(b.run), 0);
  EXPECT_LT(text.find("first"), text.find("second"));
  EXPECT_THAT(text, testing::HasSubstr("Affected pairs: 13"));
  EXPECT_THAT(text, testing::HasSubstr("... and 3 more"));
}

TEST(Explain, FindsAnIncidentByTheStartOfItsId) {
  const RunData run = sample_run();
  EXPECT_EQ(find_incident(run, "000000000000a002").value(), 2U);
  EXPECT_EQ(find_incident(run, "0000").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(find_incident(run, "f").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(find_incident(run, "").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(find_incident(RunData(), "f").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace bonescan
