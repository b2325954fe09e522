// Things that are no failures, by what can be seen of them.
#include "faults/confounders.h"

#include "tests/support/small_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bonescan::test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kDay = hours(24);

const Fabric& small_fabric() {
  static const Fabric kFabric(small_world_options().fabric);
  return kFabric;
}

JobOptions job_of(std::uint32_t gpus) {
  JobOptions job;
  job.gpus = gpus;
  job.tp = 2;
  job.pp = 2;
  job.dp = gpus / 4;
  return job;
}

std::vector<HostId> hosts(std::uint32_t count) {
  std::vector<HostId> all;
  for (std::uint32_t h = 0; h < count; ++h) {
    all.emplace_back(h);
  }
  return all;
}

TEST(ConfounderPlan, IsEmptyUnlessAskedFor) {
  const ConfounderOptions none;
  EXPECT_TRUE(plan_agent_outages(none, hosts(4), 1, kDay).empty());
  EXPECT_TRUE(plan_congestion(none, small_fabric(), 1, kDay).empty());
  EXPECT_TRUE(plan_rehashes(none, small_fabric(), 1, kDay).empty());
  EXPECT_TRUE(plan_work(none, small_fabric(), 1, kDay).empty());
  const JobOptions job = confounded_jobs(none, {job_of(8)}, 2, 1, kDay).front();
  EXPECT_TRUE(job.stragglers.empty());
  EXPECT_TRUE(job.changes.empty());
  EXPECT_EQ(job.stop, Duration::zero());
}

// Counts of a Poisson process: the mean is rate x entities x time, and so is the variance.
TEST(ConfounderPlan, KeepsItsRates) {
  ConfounderOptions options;
  options.times = 2.0;
  options.agent_crashes_per_host_day = 5.0;
  options.rehashes_per_switch_day = 10.0;
  options.work_per_host_month = 30.0;
  options.work_per_cable_month = 60.0;
  options.congestion_per_link_hour = 0.5;
  options.slow_code_per_container_day = 3.0;
  constexpr int kSeeds = 200;
  double outages = 0.0;
  double rehashes = 0.0;
  double host_work = 0.0;
  double cable_work = 0.0;
  double bursts = 0.0;
  double slow = 0.0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    outages += static_cast<double>(plan_agent_outages(options, hosts(4), seed, kDay).size());
    rehashes += static_cast<double>(plan_rehashes(options, small_fabric(), seed, kDay).size());
    for (const PlannedWork& work : plan_work(options, small_fabric(), seed, kDay)) {
      (work.on.kind == RefKind::kHost ? host_work : cable_work) += 1.0;
    }
    bursts += static_cast<double>(plan_congestion(options, small_fabric(), seed, kDay).size());
    slow += static_cast<double>(
        confounded_jobs(options, {job_of(8)}, 2, seed, kDay).front().stragglers.size());
  }
  // Four hosts, six switches, eight cables between switches, four containers of two GPUs.
  const auto near = [&](double count, double mean) {
    EXPECT_NEAR(count / kSeeds, mean, 4.0 * std::sqrt(mean / kSeeds)) << mean;
  };
  const double whole = 1.0 - 11.0 / (24.0 * 60.0);  // Work that would outlast the run is left out.
  near(outages, 2 * 5.0 * 4);
  near(rehashes, 2 * 10.0 * 6);
  near(host_work, 2 * 4.0 * whole);
  near(cable_work, 2 * 2.0 * 8 * whole);
  near(bursts, 2 * 0.5 * 24 * 16);
  near(slow, 2 * 3.0 * 4);
}

TEST(ConfounderPlan, IsAFunctionOfTheSeedAndALongerRunOnlyAppends) {
  ConfounderOptions options;
  options.rehashes_per_switch_day = 10.0;
  const auto day = plan_rehashes(options, small_fabric(), 7, kDay);
  const auto week = plan_rehashes(options, small_fabric(), 7, 7 * kDay);
  ASSERT_GT(day.size(), 20u);
  ASSERT_GT(week.size(), day.size());
  for (std::size_t i = 0; i < day.size(); ++i) {
    EXPECT_EQ(day[i].at, week[i].at);
    EXPECT_EQ(day[i].id, week[i].id);
    EXPECT_EQ(day[i].salt, week[i].salt);
  }
  EXPECT_NE(plan_rehashes(options, small_fabric(), 8, kDay).front().at, day.front().at);
}

TEST(ConfounderPlan, UpgradesEveryAgentOnceARound) {
  ConfounderOptions options;
  options.upgrade_first = hours(1);
  options.upgrade_every = hours(10);
  const auto outages = plan_agent_outages(options, hosts(4), 1, kDay);
  ASSERT_EQ(outages.size(), 12u) << "at 1 h, 11 h and 21 h";
  for (std::size_t i = 0; i < outages.size(); ++i) {
    const Duration first = hours(1 + 10 * static_cast<int>(i / 4));
    EXPECT_EQ(outages[i].host, HostId(static_cast<std::uint32_t>(i % 4)));
    EXPECT_GE(outages[i].at, first);
    EXPECT_LT(outages[i].at, first + minutes(10));
    EXPECT_EQ(outages[i].length, seconds(5));
  }
  options.upgrade_first = {};
  const auto anywhere = plan_agent_outages(options, hosts(4), 1, kDay);
  EXPECT_THAT(anywhere.size(), testing::AnyOf(8u, 9u, 10u, 11u, 12u));
}

TEST(ConfoundedJobs, StallInBetweenTheChangesThatTheyHave) {
  ConfounderOptions options;
  options.gpu_faults_per_gpu_day = 1.0;
  options.gpu_fault_silence = minutes(5);
  JobOptions job = job_of(16);
  job.changes = {{.at = hours(12), .tp = 4, .pp = 2, .dp = 2}};
  const JobOptions stalled = confounded_jobs(options, {job}, 2, 3, kDay).front();
  ASSERT_GT(stalled.changes.size(), 6u);
  bool seen = false;
  for (std::size_t i = 0; i < stalled.changes.size(); ++i) {
    const ShapeChange& change = stalled.changes[i];
    if (i > 0) {
      EXPECT_GT(change.at, stalled.changes[i - 1].at);
    }
    seen = seen || change.at == hours(12);
    EXPECT_EQ(change.tp, seen ? 4u : 2u) << "it goes on with the shape that it had";
    EXPECT_EQ(change.tp * change.pp * change.dp, 16u);
    EXPECT_EQ(change.restart, change.at == hours(12) ? seconds(30) : minutes(5));
  }
  EXPECT_TRUE(seen);
}

TEST(ConfoundedJobs, AreSilentWhileAGpuIsReplaced) {
  WorldOptions options = small_world_options();
  ConfounderOptions confounders;
  confounders.gpu_faults_per_gpu_day = 20.0;
  confounders.gpu_fault_silence = minutes(2);
  options.jobs = confounded_jobs(confounders, options.jobs, 2, 1, hours(1));
  ASSERT_FALSE(options.jobs[0].changes.empty());
  SmallWorld small(options);
  const Job& job = small.world.jobs()[0];
  const Time at = kStartOfRun + options.jobs[0].changes[0].at;
  EXPECT_GT(job.bytes_sent(RnicId(0), at - seconds(30), at), 0.0);
  EXPECT_EQ(job.bytes_sent(RnicId(0), at, at + minutes(2)), 0.0);
  EXPECT_GT(job.bytes_sent(RnicId(0), at + minutes(2), at + minutes(2) + seconds(30)), 0.0);
  small.run_until(at + minutes(3));
  for (const auto& [source, target] : small.pairs()) {
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-12) << "the network is healthy";
  }
}

TEST(ConfoundedJobs, BurstLateWhileTheirCodeIsSlow) {
  WorldOptions options = small_world_options();
  options.jobs[0].step_jitter = 0.0;
  ConfounderOptions confounders;
  confounders.slow_code_per_container_day = 40.0;
  confounders.slow_code_slowdown = {.least = 0.5, .most = 0.5};
  confounders.slow_code_length = {.least = minutes(5), .most = minutes(5)};
  WorldOptions slow = options;
  slow.jobs = confounded_jobs(confounders, options.jobs, 2, 1, hours(1));
  ASSERT_FALSE(slow.jobs[0].stragglers.empty());
  const Straggler& straggler = slow.jobs[0].stragglers.front();
  EXPECT_EQ(straggler.late_by, options.jobs[0].step_time / 2);
  const SmallWorld with(slow);
  const SmallWorld without(options);
  const RnicId rnic = with.world.jobs()[0].rnics()[2 * straggler.container];
  const auto sent = [&](const SmallWorld& small, Duration from, Duration length) {
    return small.world.jobs()[0].bytes_sent(rnic, kStartOfRun + from, kStartOfRun + from + length);
  };
  const Duration step = options.jobs[0].step_time;
  const Duration begin = straggler.at / step * step + 2 * step;
  EXPECT_NEAR(sent(with, begin + step / 2, step), sent(without, begin, step), 1.0)
      << "the same bytes, half a step later";
  EXPECT_LT(sent(with, begin, step / 2), sent(without, begin, step / 2));
}

TEST(ConfoundedJobs, StopForGoodButTheFirstOneStays) {
  ConfounderOptions confounders;
  confounders.task_stops_per_job_day = 24.0;
  const auto jobs = confounded_jobs(confounders, {job_of(8), job_of(8)}, 2, 1, 12 * kDay);
  EXPECT_EQ(jobs[0].stop, Duration::zero());
  EXPECT_GT(jobs[1].stop, minutes(6)) << "in the middle, after everybody is there";
  WorldOptions options = small_world_options();
  options.jobs[0].stop = minutes(10);
  SmallWorld small(options);
  small.run_until(kStartOfRun + minutes(10) - seconds(1));
  EXPECT_TRUE(small.world.agent_running(RnicId(0)));
  small.run_until(kStartOfRun + minutes(11));
  std::vector<ContainerState> states;
  for (const Container& container : small.world.containers()) {
    EXPECT_EQ(container.state, ContainerState::kGone);
  }
  std::size_t announced = 0;
  for (const ContainerEvent& event : small.world.container_events()) {
    announced += event.state == ContainerState::kStopping ? 1 : 0;
  }
  EXPECT_EQ(announced, 4u);
  EXPECT_FALSE(small.world.agent_running(RnicId(0)));
  EXPECT_FALSE(small.world.container_ready(RnicId(0)));
  const Job& job = small.world.jobs()[0];
  EXPECT_EQ(job.bytes_sent(RnicId(0), kStartOfRun + minutes(10), kStartOfRun + hours(1)), 0.0);
}

TEST(Rehash, MovesFlowsAndBreaksNothing) {
  WorldOptions options = small_world_options();
  options.fabric.aggregation_switches = 8;
  SmallWorld small(options);
  Confounders confounders(small.world);
  ConfounderOptions what;
  what.rehashes_per_switch_day = 5.0;
  confounders.schedule(what, kDay);
  std::vector<LinkPath> before;
  for (const auto& [source, target] : small.pairs()) {
    before.push_back(resolve_path(small.world, small.spec(source, target)).request);
  }
  small.run_until(kStartOfRun + kDay);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto [source, target] = small.pairs()[i];
    const LinkPath after = resolve_path(small.world, small.spec(source, target)).request;
    moved += std::ranges::equal(after.span(), before[i].span()) ? 0 : 1;
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-9);
    EXPECT_EQ(small.added_ns(source, target), 0.0);
  }
  EXPECT_GT(moved, 10u);
}

TEST(PlannedWork, TakesItsComponentDownAndUpAgain) {
  SmallWorld small;
  Confounders confounders(small.world);
  ConfounderOptions what;
  what.work_per_host_month = 60.0;
  what.work_length = minutes(10);
  confounders.schedule(what, kDay);
  const auto work = plan_work(what, small.world.fabric(), 1, kDay);
  ASSERT_FALSE(work.empty());
  const HostId host = work[0].on.host();
  const RnicId down = small.world.fabric().rnic(host, 0);
  const RnicId other = small.world.fabric().rnic(HostId(host.index() == 0 ? 1 : 0), 0);
  const auto loss_at = [&](Duration at) {
    small.run_until(kStartOfRun + at);
    return small.added_loss(down, other);
  };
  EXPECT_NEAR(loss_at(work[0].at - seconds(1)), 0.0, 1e-9);
  EXPECT_NEAR(loss_at(work[0].at + seconds(1)), 1.0, 1e-5);
  EXPECT_FALSE(small.world.agent_running(host));
  EXPECT_NEAR(loss_at(work[0].at + minutes(9)), 1.0, 1e-5);
  EXPECT_NEAR(loss_at(work[0].at + minutes(10)), 0.0, 1e-9);
  EXPECT_TRUE(small.world.agent_running(host));
}

TEST(Congestion, ByRateQueuesOnOneLinkForAWhile) {
  SmallWorld small;
  Confounders confounders(small.world);
  ConfounderOptions what;
  what.congestion_per_link_hour = 0.2;
  confounders.schedule(what, kDay);
  const auto bursts = plan_congestion(what, small.world.fabric(), 1, kDay);
  ASSERT_FALSE(bursts.empty());
  const auto queued = [&](Duration at) {
    small.run_until(kStartOfRun + at);
    std::size_t count = 0;
    for (const auto& [source, target] : small.pairs()) {
      const bool crosses = small.crossings(source, target, bursts[0].link) > 0;
      const ProbePath path = resolve_path(small.world, small.spec(source, target));
      EXPECT_TRUE(crosses || path.queue_mean_ns == 0.0);
      count += path.queue_mean_ns > 0.0 ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(queued(bursts[0].at - seconds(1)), 0u);
  EXPECT_GT(queued(bursts[0].at + seconds(1)), 0u);
  EXPECT_EQ(queued(bursts[0].at + seconds(5)), 0u);
}

}  // namespace
}  // namespace bonescan::test
