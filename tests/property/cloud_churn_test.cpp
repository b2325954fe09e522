// Container churn leaks nothing: after an hour of it, and the end of the last task, every count is
// zero; meanwhile nothing grows but names.
#include "model/backend_sim/sim_backend.h"
#include "model/world.h"
#include "tests/support/churn_prober.h"
#include "tests/support/recorded_cloud.h"

#include <algorithm>
#include <cstdint>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

CloudOptions an_hour_of_churn() {
  CloudOptions options;
  options.initial_tasks = 10;
  options.containers_per_minute = 30;
  options.peak_containers_per_minute = 300;
  options.peak_first = minutes(10);
  options.peak_every = minutes(20);
  options.peak_length = minutes(2);
  options.arrivals_until = hours(1);
  options.queue_limit = 50;
  options.lifetimes = {{0.1, minutes(1)}, {0.5, minutes(3)}, {0.9, minutes(15)}};
  options.sizes = {{1, 0.6}, {2, 0.25}, {4, 0.1}, {8, 0.05}};
  options.ready_spread = minutes(2);
  options.crash_share = 0.02;
  options.agent_restarts_per_day = 48;
  options.upgrade_at = minutes(20);
  options.upgrade_every = minutes(30);
  return options;
}

TEST(CloudChurn, LeavesNothingBehindAfterAnHour) {
  for (const std::uint64_t seed : {1, 2}) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    Engine engine;
    WorldOptions options;
    options.fabric = {.segments = 4, .hosts_per_segment = 4, .rails = 8, .aggregation_switches = 2};
    options.cloud = an_hour_of_churn();
    options.seed = seed;
    World world(options, engine);
    SimBackend backend(world, {});
    test::ChurnProber prober(backend);
    std::size_t most_quads = 0;
    std::uint32_t most_leases = 0;
    while (prober.now() < kStartOfRun + hours(2)) {
      prober.turn();
      most_quads = std::max(most_quads, world.flows().used());
      most_leases = std::max(most_leases, world.cloud()->counts().leases);
      ASSERT_EQ(world.leases().count(), world.cloud()->counts().leases);
    }
    const CloudCounts& counts = world.cloud()->counts();
    EXPECT_GT(counts.admitted, 400u);
    EXPECT_GT(counts.crashes, 5u);
    EXPECT_EQ(counts.ended, counts.admitted);
    EXPECT_EQ(counts.arrived, counts.admitted + counts.refused);
    EXPECT_EQ(counts.waiting, 0u);
    EXPECT_EQ(counts.tasks, 0u);
    EXPECT_EQ(counts.containers, 0u);
    EXPECT_EQ(counts.leases, 0u);
    EXPECT_EQ(world.leases().count(), 0u);
    EXPECT_EQ(world.virtual_functions().used(), 0u);
    EXPECT_EQ(world.flows().used(), 0u);
    EXPECT_EQ(world.cloud()->inventory().used(), 0u);
    EXPECT_TRUE(backend.endpoints().present().empty());
    // A lease meets at most the others of its task, 64 RNICs here.
    EXPECT_LE(most_quads, std::size_t{most_leases} * 63 / 2);
    EXPECT_EQ(world.flows().size(), most_quads) << "as many places as were ever used at once";
    EXPECT_GT(most_leases, 100u);
    EXPECT_LE(most_leases, world.fabric().rnic_count());
    EXPECT_GT(prober.answered_probes, 100'000u);
    std::uint32_t living_jobs = 0;
    for (const Job& job : world.jobs()) {
      living_jobs += job.rnics().empty() ? 0 : 1;
    }
    EXPECT_EQ(living_jobs, 0u);
  }
}

/// The invariants are checked at every event by the observer.
TEST(CloudChurn, NeverBindsAnRnicTwiceAndCountsEveryGpu) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    test::RecordedCloud run(an_hour_of_churn(), seed, 16);
    run.run_for(hours(2));
    EXPECT_GT(run.cloud.counts().admitted, 400u);
    EXPECT_EQ(run.cloud.counts().leases, 0u);
  }
}

}  // namespace
}  // namespace bonescan
