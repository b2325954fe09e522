// The lists of the paper's jobs: as long as the neighbour rule says, inferred from outside, and
// without a communicating pair missing.
#include "detectors/pipeline/run_loop.h"
#include "scenarios/schema/load_scenario.h"
#include "tools/run/simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace bonescan {
namespace {

struct Case {
  std::string name;
  std::string file;
  std::vector<std::string> settings;
  std::size_t longest = 0;  ///< list; (DP - 1) + 2, or (DP - 1) + 2 DP without numbered containers
  std::string scope;
  std::string basis;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class PaperLists : public testing::TestWithParam<Case> {};

TEST_P(PaperLists, AreAsLongAsTheNeighbourRuleSaysAndMissNobody) {
  const Case& c = GetParam();
  const Scenario scenario = load_scenario(
      fmt::format("{}/scenarios/paper/{}.yaml", BONESCAN_SOURCE_DIR, c.file), c.settings);
  Simulation simulation(scenario, {});
  const Telemetry telemetry = simulation.backend().telemetry();
  Pipeline pipeline(scenario.pipeline, telemetry);
  std::vector<SkeletonRecord> records;
  RunLoopHooks hooks;
  hooks.updates = [&](Time, const PipelineUpdates& updates) {
    records.insert(records.end(), updates.skeletons.begin(), updates.skeletons.end());
  };
  const Time end = run_loop(
      pipeline, telemetry, scenario.pipeline.probing, kStartOfRun + scenario.duration, hooks);
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back().scope, c.scope) << records.back().why;
  EXPECT_EQ(records.back().basis, c.basis);

  const EndpointMap& endpoints = simulation.backend().endpoints();
  const Job& job = simulation.world().jobs()[0];
  std::map<TrafficKind, std::pair<std::size_t, std::size_t>> found;  // of how many
  for (const RnicId source : job.rnics()) {
    for (const JobPeer& peer : job.peers(source, end)) {
      auto& [listed, all] = found[peer.kind];
      listed += pipeline.lists({*endpoints.endpoint(source), *endpoints.endpoint(peer.target)});
      ++all;
    }
  }
  EXPECT_EQ(found.size(), 2u) << "data parallelism and pipeline";
  for (const auto& [kind, count] : found) {
    EXPECT_EQ(count.first, count.second) << "kind " << static_cast<int>(kind);
  }
  EXPECT_EQ(pipeline.skeleton().sweep_s, static_cast<double>(c.longest));
}

INSTANTIATE_TEST_SUITE_P(
    Jobs,
    PaperLists,
    testing::Values(
        Case{"job512", "job512", {}, 9, "peers", "throughput"},
        Case{"job512_permuted", "job512_permuted", {}, 23, "adjacent-groups", "throughput"},
        // Tables name the two neighbours in the ring instead of its eight members; two
        // pairs more tell links apart.
        Case{"job512_flow_tables",
             "job512_permuted",
             {"probing.skeleton.evidence=flow-table"},
             5,
             "peers",
             "flow-table"},
        Case{"job1024", "job1024", {}, 17, "peers", "throughput"},
        Case{"job2048_dp16", "job2048_dp16", {}, 17, "peers", "throughput"},
        Case{"job2048_dp32", "job2048_dp32", {}, 33, "peers", "throughput"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace bonescan
