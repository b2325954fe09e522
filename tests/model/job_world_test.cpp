// Jobs as the world and its seam have them: who is where, and what counters read.
#include "model/backend_sim/sim_backend.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::SmallWorld;

WorldOptions two_jobs_on_four_hosts() {
  WorldOptions options;
  options.fabric = {.segments = 2, .hosts_per_segment = 2, .rails = 4, .aggregation_switches = 2};
  JobOptions job{.name = "a", .gpus = 8, .tp = 2, .dp = 4, .ready_spread = Duration(0)};
  job.container_rnics = 2;
  job.rank_order = RankOrder::kKnown;
  options.jobs.push_back(job);
  job.name = "b";
  job.beside = "a";
  job.rank_order = RankOrder::kHidden;
  options.jobs.push_back(job);
  return options;
}

TEST(JobWorld, PutsTwoJobsOnOneHostSideBySide) {
  const SmallWorld small(two_jobs_on_four_hosts());
  const World& world = small.world;
  const Fabric& fabric = world.fabric();
  for (std::uint32_t h = 0; h < fabric.host_count(); ++h) {
    for (std::uint32_t rail = 0; rail < 4; ++rail) {
      EXPECT_EQ(world.jobs().place(fabric.rnic(HostId(h), rail)).job, JobId(rail / 2));
    }
  }
  EXPECT_NE(world.jobs()[0].hosts(), world.jobs()[1].hosts()) << "each in an order of its own";
  EXPECT_EQ(world.containers().size(), 8u);
}

TEST(JobWorld, NumbersContainersOnlyIfThePlatformTells) {
  SmallWorld small(two_jobs_on_four_hosts());
  SimBackend backend(small.world, {});
  std::set<std::uint32_t> numbers;
  for (const Endpoint& endpoint : backend.endpoints().directory()) {
    if (endpoint.task == "b") {
      EXPECT_EQ(endpoint.container, std::nullopt);
      continue;
    }
    ASSERT_TRUE(endpoint.container.has_value());
    numbers.insert(*endpoint.container);
    const auto id = find_endpoint(backend.endpoints().directory(), endpoint.name);
    const RnicId rnic = backend.endpoints().rnic(*id);
    EXPECT_EQ(small.world.fabric().host_of(rnic),
              small.world.jobs()[0].hosts()[*endpoint.container]);
  }
  EXPECT_EQ(numbers, (std::set<std::uint32_t>{0, 1, 2, 3}));
}

TEST(JobWorld, AnnouncesTheRnicsOfEachContainer) {
  SmallWorld small(two_jobs_on_four_hosts());
  SimBackend backend(small.world, {});
  std::vector<MembershipEvent> events;
  backend.telemetry().membership.collect(kStartOfRun + seconds(5), events);
  std::map<EndpointId, int> ready;
  for (const MembershipEvent& event : events) {
    ++ready[event.endpoint];
  }
  EXPECT_EQ(ready.size(), 16u);
  for (const auto& [endpoint, count] : ready) {
    EXPECT_EQ(count, 1);
  }
}

/// Quads that were known before the change learn of it; what was silent may talk and the reverse.
TEST(JobWorld, FollowsAChangeOfShape) {
  WorldOptions options = test::small_world_options();
  options.fabric.segments = 4;
  options.jobs[0] = {.gpus = 16, .tp = 2, .pp = 1, .dp = 8, .ready_spread = Duration(0)};
  options.jobs[0].changes = {{.at = seconds(100), .tp = 2, .pp = 4, .dp = 2}};
  SmallWorld small(options);
  const Job& job = small.world.jobs()[0];
  const auto quad_of = [&](std::uint32_t one, std::uint32_t other) -> const FlowQuad& {
    FlowStore& flows = small.world.flows();
    return flows[flows.find_or_add(
        job.rnics()[2 * one], job.rnics()[2 * other], small.world.jobs())];
  };
  EXPECT_EQ(quad_of(0, 1).traffic, TrafficKind::kRing);
  EXPECT_EQ(quad_of(1, 2).traffic, TrafficKind::kRing);
  EXPECT_EQ(quad_of(0, 2).traffic, TrafficKind::kNone);
  small.run_until(kStartOfRun + seconds(101));
  EXPECT_EQ(quad_of(0, 1).traffic, TrafficKind::kRing);
  EXPECT_EQ(quad_of(1, 2).traffic, TrafficKind::kNone);
  EXPECT_EQ(quad_of(0, 2).traffic, TrafficKind::kPipeline);
  EXPECT_EQ(small.world.jobs().place(job.rnics()[2 * 4]).stage, 2u);
  for (const RnicId a : job.rnics()) {
    for (const RnicId b : job.rnics()) {
      if (a < b) {
        const QuadId id = small.world.flows().find_or_add(a, b, small.world.jobs());
        EXPECT_EQ(small.world.flows()[id].traffic, job.traffic(a, b));
      }
    }
  }
}

std::map<EndpointId, std::vector<double>> read(const TelemetryChannelOptions& channel,
                                               const WorldOptions& options,
                                               int until_s) {
  SmallWorld small(options);
  SimBackend backend(small.world, {.channel = channel});
  std::vector<ThroughputSample> samples;
  for (int second = 1; second <= until_s; ++second) {
    backend.telemetry().throughput.collect(kStartOfRun + seconds(second), samples);
  }
  std::map<EndpointId, std::vector<double>> rows;
  for (const ThroughputSample& sample : samples) {
    rows[sample.endpoint].push_back(static_cast<double>(sample.bytes));
  }
  return rows;
}

TEST(SimThroughput, ReadsAsOftenAsAsked) {
  const WorldOptions options = test::small_world_options();
  const auto slow = read({.sampler_noise = 0.0}, options, 60);
  const auto fast = read({.sampler_period = milliseconds(100), .sampler_noise = 0.0}, options, 60);
  ASSERT_EQ(slow.size(), fast.size());
  for (const auto& [endpoint, row] : slow) {
    ASSERT_EQ(row.size(), 60u);
    ASSERT_EQ(fast.at(endpoint).size(), 600u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      double sum = 0.0;
      for (std::size_t k = 0; k < 10; ++k) {
        sum += fast.at(endpoint)[10 * i + k];
      }
      EXPECT_NEAR(sum, row[i], 12.0) << "whole bytes";
    }
  }
}

/// A step as long as the period is flat in the samples, unless their moments are dithered.
TEST(SimThroughput, DitherShowsAStepThatHidesInThePeriod) {
  WorldOptions options = test::small_world_options();
  options.jobs[0].step_time = seconds(1);
  options.jobs[0].step_jitter = 0.0;
  options.jobs[0].stage_offset = milliseconds(100);
  const auto spread = [](const std::vector<double>& row) {
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = 10; i < row.size(); ++i) {
      sum += row[i];
      squares += row[i] * row[i];
    }
    const double mean = sum / static_cast<double>(row.size() - 10);
    const double variance = squares / static_cast<double>(row.size() - 10) - mean * mean;
    return std::sqrt(std::max(variance, 0.0)) / mean;
  };
  const auto aligned = read({.sampler_noise = 0.0}, options, 200);
  const auto dithered =
      read({.sampler_dither = milliseconds(500), .sampler_noise = 0.0}, options, 200);
  for (const auto& [endpoint, row] : aligned) {
    EXPECT_LT(spread(row), 0.01);
    EXPECT_GT(spread(dithered.at(endpoint)), 0.1);
  }
}

/// A silent job's counters show the background alone: white, as wide as asked, three times that in
/// the mean.
TEST(SimThroughput, AddsABackgroundOfTheWidthAsked) {
  WorldOptions options = test::small_world_options();
  options.jobs[0].start = seconds(5'000);
  const auto rows = read({.background = BitsPerSecond(8'000'000'000)}, options, 2'000);
  for (const auto& [endpoint, row] : rows) {
    double sum = 0.0;
    double squares = 0.0;
    for (const double bytes : row) {
      sum += bytes;
      squares += bytes * bytes;
    }
    const double mean = sum / 2'000;
    // Five standard errors of 2,000 draws; cutting at nothing moves less.
    EXPECT_NEAR(mean, 3e9, 0.12e9);
    EXPECT_NEAR(std::sqrt(squares / 2'000 - mean * mean), 1e9, 0.08e9);
  }
}

}  // namespace
}  // namespace bonescan
