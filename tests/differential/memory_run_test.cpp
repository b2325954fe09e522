// A run that is only judged is the run that is recorded.
#include "tools/campaign/memory_run.h"

#include "scenarios/schema/load_scenario.h"
#include "tools/evaluate/evaluate.h"
#include "tools/run/run_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Scenario crc_error() {
  return load_scenario(std::string(BONESCAN_SOURCE_DIR) + "/scenarios/smoke/crc-error.yaml");
}

TEST(MemoryRun, IsTheRunThatIsRecorded) {
  const Scenario scenario = crc_error();
  const std::string directory = testing::TempDir() + "/memory_run_recorded";
  std::filesystem::remove_all(directory);
  RunSessionOptions options;
  options.directory = directory;
  const RunData recorded = run_scenario(scenario, options);
  const Evaluation judged = evaluate(recorded);
  const auto results = run_in_memory(scenario, "bonescan", {});
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].run.fingerprint, recorded.result.fingerprint);
  EXPECT_EQ(results[0].run.probes, recorded.result.probes_sent);
  EXPECT_EQ(results[0].run.false_positives, judged.detection->false_positives);
  ASSERT_THAT(results[0].faults, SizeIs(recorded.truth.size()));
  ASSERT_THAT(results[0].incidents, SizeIs(recorded.incidents.size()));
  for (std::size_t f = 0; f < recorded.truth.size(); ++f) {
    EXPECT_EQ(results[0].faults[f].status, judged.faults[f].status);
    EXPECT_EQ(results[0].faults[f].time_to_detect_s, judged.faults[f].time_to_detect_s);
    EXPECT_EQ(results[0].faults[f].placement, judged.faults[f].placement.placement);
  }
}

TEST(MemoryRun, IsNotChangedByRiders) {
  const Scenario scenario = crc_error();
  const std::vector<Rider> riders = {{"mesh", "mesh-vote", "raw-vote"},
                                     {"votes", "pingmesh-roce", "007"}};
  const auto alone = run_in_memory(scenario, "bonescan", {});
  const auto with = run_in_memory(scenario, "bonescan", riders);
  ASSERT_THAT(with, SizeIs(3));
  EXPECT_EQ(with[0].run.fingerprint, alone[0].run.fingerprint);
  EXPECT_EQ(with[1].run.scheme, "mesh");
  EXPECT_EQ(with[1].run.probes, with[0].run.probes);
  const auto last = run_in_memory(scenario, "bonescan", std::span(riders).subspan(1));
  ASSERT_THAT(last, SizeIs(2));
  EXPECT_EQ(last[1].incidents.size(), with[2].incidents.size());
}

TEST(MemoryRun, SaysWhyAFailureHasNoPlace) {
  Scenario scenario = crc_error();
  scenario.failures.kinds = {{.kind = "no-such-kind"}};
  scenario.failures.count = 1;
  scenario.failures.until = scenario.duration;
  const auto results = run_in_memory(scenario, "bonescan", {});
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_THAT(results[0].run.failure, testing::HasSubstr("no-such-kind"));
  EXPECT_THAT(results[0].faults, IsEmpty());
}

}  // namespace
}  // namespace bonescan
