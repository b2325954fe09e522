#include "tests/support/sample_run.h"
#include "tools/report/html.h"
#include "tools/report/timeline_svg.h"

#include <fstream>

namespace bonescan {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string page_of(const RunData& run) {
  return report_html(run, evaluate(run));
}

TEST(Html, EscapesWhatCouldBeMarkup) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&'</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escape_html(std::string("a\x01\x1b") + "b"), "a  b");
}

TEST(Html, EscapesEveryNameOfTheRun) {
  const std::string evil = "<script>alert(1)</script>\"'&";
  RunDataBuilder b;
  b.run.info.scenario_name = evil;
  b.run.info.version = evil;
  b.run.info.commit = evil;
  b.run.info.mode = evil;
  b.run.info.scenario_hash = evil;
  b.run.result.fingerprint = evil;
  b.endpoint(0);
  b.run.endpoints[EndpointId(0)].name = evil;
  b.fault(evil, {.injected_s = 100, .component = evil, .kind = evil});
  Incident& incident = b.incident({.opened_s = 110, .candidates = {{ComponentType::kLink, evil}}});
  incident.kind = evil;
  incident.evidence = {{at_s(111), evil, false, evil}};
  const std::string page = page_of(b.run);
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
}

TEST(Html, NeedsNothingFromOutside) {
  const std::string page = page_of(sample_run());
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import", "<script", "<link"}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(Html, ClosesWhatItOpens) {
  const std::string page = page_of(sample_run());
  for (const std::string tag : {"table",
                                "tr",
                                "td",
                                "th",
                                "details",
                                "summary",
                                "pre",
                                "svg",
                                "g",
                                "text",
                                "div",
                                "p",
                                "title",
                                "style",
                                "html",
                                "head",
                                "body"}) {
    EXPECT_EQ(count_of(page, "<" + tag + ">") + count_of(page, "<" + tag + " "),
              count_of(page, "</" + tag + ">"))
        << tag;
  }
}

TEST(Html, ShowsEveryFaultAndEveryIncident) {
  const RunData run = sample_run();
  const std::string page = page_of(run);
  for (const TruthRow& truth : run.truth) {
    EXPECT_THAT(page, HasSubstr("<td>" + truth.name + "</td>"));
  }
  EXPECT_EQ(count_of(page, "<details>"), run.incidents.size());
  EXPECT_EQ(count_of(page, "<rect"), run.truth.size() + run.incidents.size());
  EXPECT_THAT(page, HasSubstr("simulated, seed 7"));
}

TEST(Html, SaysWhenTheRunWasCutOrHasNoTruth) {
  RunData run = sample_run();
  run.result.complete = false;
  EXPECT_THAT(page_of(run), HasSubstr("This run was cut at 30:00.0 min"));
  run.info.truth_available = false;
  const std::string page = page_of(run);
  EXPECT_THAT(page, HasSubstr("no truth to score against"));
  EXPECT_THAT(page, Not(HasSubstr("<h2>Faults</h2>")));
}

TEST(Html, DrawsAnEmptyRun) {
  EXPECT_THAT(page_of(RunData()), HasSubstr("nothing was injected"));
}

TEST(Html, WritesASampleForPeopleToLookAt) {
  const std::string path = BONESCAN_BINARY_DIR "/sample_report.html";
  std::ofstream(path) << page_of(sample_run());
  EXPECT_TRUE(std::ifstream(path).good());
}

}  // namespace
}  // namespace bonescan
