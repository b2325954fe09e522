// What must hold of the directory of a run that was killed, whatever the scenario.
#pragma once

#include "tests/support/bonescan_cli.h"
#include "tests/support/report_schema.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace bonescan::fakes {

/// Nothing but whole files, and a manifest that owns up to being incomplete.
inline void expect_no_half_written_file(const std::string& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name == "manifest.json" || name.starts_with("run.sqlite")) << name;
  }
  const auto manifest =
      nlohmann::json::parse(read_file(directory + "/manifest.json"), nullptr, false);
  ASSERT_FALSE(manifest.is_discarded());
  EXPECT_EQ(manifest["complete"], false);
  EXPECT_EQ(manifest["fingerprint"], nullptr);
}

/// Scores the run; the report, which is valid and says that it is not complete.
inline nlohmann::json score_killed_run(const std::string& directory) {
  const ChildResult scored = bonescan({"score", directory, "--json"});
  EXPECT_EQ(scored.exit_code, 0) << scored.err;
  auto report = nlohmann::json::parse(scored.out, nullptr, false);
  EXPECT_FALSE(report.is_discarded()) << scored.out;
  EXPECT_EQ(report["complete"], false);
  EXPECT_EQ(report["truth_available"], true);
  EXPECT_EQ(report["fingerprint"], nullptr);
  if (schema_validator_installed()) {
    const TemporaryDirectory scratch;
    std::ofstream(scratch.file("report.json")) << scored.out;
    EXPECT_TRUE(follows_report_schema(scratch.file("report.json")));
  }
  return report;
}

/// `bonescan report` finishes the directory, and only it writes there.
inline void expect_report_can_be_made(const std::string& directory, const nlohmann::json& wanted) {
  const ChildResult made = bonescan({"report", directory});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(report_in(directory), wanted);
  EXPECT_GT(read_file(directory + "/report.html").size(), 1000U);
  EXPECT_TRUE(nlohmann::json::accept(read_file(directory + "/trace.json")));
  EXPECT_EQ(nlohmann::json::parse(read_file(directory + "/manifest.json"))["complete"], false);
}

}  // namespace bonescan::fakes
