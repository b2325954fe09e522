// One record, however it was made: in batches, one event per probe, on one thread or on three.
#include "tests/support/simulated_run.h"

#include <string>
#include <vector>

namespace bonescan {
namespace {

using test::ProbeRecords;
using test::records_of;

struct Case {
  std::string name;
  Scenario scenario;
};

/// Every smoke scenario, cut short, and a busy one with every confounder.
std::vector<Case> cases(const std::string& seed, const std::string& probes_per_visit) {
  const std::vector<std::string> common = {"seed=" + seed,
                                           "probing.probes_per_visit=" + probes_per_visit};
  std::vector<Case> found;
  for (const char* name : {"healthy",
                           "crc-error",
                           "missing-overlay-rule",
                           "overlay-loop",
                           "rnic-port-flapping",
                           "switch-port-down",
                           "stale-flow-counters"}) {
    std::vector<std::string> settings = common;
    settings.emplace_back("duration=130s");
    settings.emplace_back("jobs[0].start.ready_spread=20s");
    if (std::string(name) != "healthy") {
      settings.emplace_back("faults[0].at=60s");
      settings.emplace_back("faults[0].for=45s");
    }
    found.push_back({name, test::smoke_scenario(name, settings)});
  }
  std::vector<std::string> loaded = common;
  loaded.emplace_back("duration=185s");
  found.push_back({"load", test::smoke_scenario("../load/incast", loaded)});
  found.push_back({"busy", test::busy_scenario(common)});
  return found;
}

TEST(ProbeModes, BatchesEqualOneEventPerProbe) {
  for (const char* seed : {"1", "2", "3"}) {
    for (const char* count : {"1", "10"}) {
      for (const Case& c : cases(seed, count)) {
        SCOPED_TRACE(c.name + " seed=" + seed + " k=" + count);
        const ProbeRecords batched = records_of(c.scenario, {});
        const ProbeRecords single =
            records_of(c.scenario, {.evaluation = ProbeEvaluation::kEventPerProbe});
        ASSERT_GT(batched.rtt_ns.size(), 1'000u);
        ASSERT_TRUE(batched == single) << test::first_difference(batched, single);
      }
    }
  }
}

TEST(ProbeModes, ThreadsChangeNothing) {
  for (const char* seed : {"1", "4"}) {
    for (const Case& c : cases(seed, "10")) {
      SCOPED_TRACE(c.name + " seed=" + seed);
      const ProbeRecords one = records_of(c.scenario, {.threads = 1});
      for (const unsigned threads : {2u, 3u}) {
        const ProbeRecords many = records_of(c.scenario, {.threads = threads});
        ASSERT_TRUE(one == many) << threads << " threads: " << test::first_difference(one, many);
      }
    }
  }
}

/// The comparison itself can tell two runs apart.
TEST(ProbeModes, AnotherSeedIsAnotherRun) {
  const ProbeRecords one = records_of(test::busy_scenario({"seed=1"}), {});
  const ProbeRecords other = records_of(test::busy_scenario({"seed=2"}), {});
  EXPECT_FALSE(one == other);
}

}  // namespace
}  // namespace bonescan
