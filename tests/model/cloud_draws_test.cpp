#include "model/host/cloud_draws.h"

#include "sim/base/rng_stream.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

TEST(CloudDraws, LifetimesAreLogLinearBetweenQuantiles) {
  const std::vector<LifetimeQuantile> two = {{0.2, minutes(1)}, {0.6, minutes(100)}};
  EXPECT_EQ(lifetime_at(two, 0.1), minutes(1));
  EXPECT_EQ(lifetime_at(two, 0.9), minutes(100));
  EXPECT_NEAR(seconds(lifetime_at(two, 0.4)), 600.0, 1e-6) << "the geometric mean";
  EXPECT_NEAR(seconds(lifetime_at(two, 0.5)), 60.0 * std::pow(100.0, 0.75), 1e-6);
}

TEST(CloudDraws, MeasuredLifetimesHaveThePublishedShares) {
  int below_hour = 0;
  int below_100min = 0;
  double sum_h = 0.0;
  constexpr int kTasks = 20'000;
  for (std::uint32_t n = 0; n < kTasks; ++n) {
    const CloudTaskPlan plan = draw_task({}, 1, n);
    below_hour += plan.lifetime < hours(1) ? 1 : 0;
    below_100min += plan.lifetime < minutes(100) ? 1 : 0;
    sum_h += seconds(plan.lifetime) / 3600.0;
  }
  EXPECT_GT(below_hour, kTasks / 2) << "more than half live for less than an hour";
  EXPECT_NEAR(below_100min, 0.70 * kTasks, 4.0 * std::sqrt(kTasks * 0.21) + 0.005 * kTasks);
  EXPECT_NEAR(sum_h / kTasks, 4.4, 0.5);
}

TEST(CloudDraws, MeasuredShapesHaveThePublishedShares) {
  std::map<std::uint32_t, int> count;
  constexpr int kTasks = 20'000;
  for (std::uint32_t n = 0; n < kTasks; ++n) {
    ++count[draw_task({}, 7, n).rnics];
  }
  for (const auto& [rnics, share] :
       std::map<std::uint32_t, double>{{8, 0.831}, {4, 0.089}, {2, 0.04}, {1, 0.04}}) {
    EXPECT_NEAR(count[rnics], share * kTasks, 4.0 * std::sqrt(kTasks * share * (1.0 - share)))
        << rnics;
  }
  EXPECT_EQ(count.size(), 4u);
}

TEST(CloudDraws, PickFollowsTheShares) {
  const std::vector<CloudShare> shares = {{3, 1.0}, {5, 3.0}};
  EXPECT_EQ(pick(shares, 0.2499), 3u);
  EXPECT_EQ(pick(shares, 0.2501), 5u);
  EXPECT_EQ(pick(shares, 0.9999), 5u);
  EXPECT_DOUBLE_EQ(mean(shares), 4.5);
}

TEST(CloudDraws, ATaskIsTheSameWhateverElseIsAsked) {
  const CloudTaskPlan before = draw_task({}, 3, 41);
  draw_task({}, 3, 40);
  draw_container({}, 3, before, 1);
  const CloudTaskPlan after = draw_task({}, 3, 41);
  EXPECT_EQ(before.lifetime, after.lifetime);
  EXPECT_EQ(before.containers, after.containers);
  EXPECT_NE(draw_task({}, 4, 41).lifetime, before.lifetime);
}

TEST(CloudDraws, ReadinessSpreadsWithinTheTaskAndCrashesComeSoonAfter) {
  CloudOptions options;
  options.crash_share = 0.25;
  int crashes = 0;
  Duration latest{};
  for (std::uint32_t n = 0; n < 200; ++n) {
    const CloudTaskPlan task = draw_task(options, 5, n);
    for (std::uint32_t c = 0; c < 20; ++c) {
      const CloudContainerPlan plan = draw_container(options, 5, task, c);
      EXPECT_GE(plan.ready_after, options.ready_base);
      EXPECT_LE(plan.ready_after, options.ready_base + minutes(10));
      EXPECT_LE(plan.crash_after, options.crash_within);
      latest = std::max(latest, plan.ready_after);
      crashes += plan.crashes ? 1 : 0;
    }
  }
  EXPECT_GT(latest, minutes(9));
  EXPECT_NEAR(crashes, 1'000, 4.0 * std::sqrt(4'000 * 0.25 * 0.75));
}

struct Arrivals {
  std::vector<Time> times;

  Arrivals(const CloudOptions& options, double mean_containers, Time until) {
    const RngStream gaps(1, Purpose::kTest, 0);
    Time at = kStartOfRun;
    for (std::uint64_t n = 0;; ++n) {
      at = next_arrival(options, mean_containers, at, -std::log(gaps.open01_at(n)));
      if (at >= until) {
        return;
      }
      times.push_back(at);
    }
  }

  auto between(Duration from, Duration to) const {
    return std::count_if(times.begin(), times.end(), [&](Time t) {
      return t >= kStartOfRun + from && t < kStartOfRun + to;
    });
  }
};

TEST(CloudDraws, ArrivalsHaveTheRateOfTheirTimes) {
  CloudOptions options;
  options.containers_per_minute = 200;
  options.peak_containers_per_minute = 2'000;
  options.peak_first = minutes(10);
  options.peak_every = minutes(30);
  options.peak_length = minutes(2);
  const Arrivals arrivals(options, 2.0, kStartOfRun + hours(2));
  const auto expect_near = [](auto count, double expected) {
    EXPECT_NEAR(static_cast<double>(count), expected, 4.0 * std::sqrt(expected));
  };
  expect_near(arrivals.between(minutes(0), minutes(10)), 1'000);
  expect_near(arrivals.between(minutes(10), minutes(12)), 2'000);
  expect_near(arrivals.between(minutes(12), minutes(40)), 2'800);
  expect_near(arrivals.between(minutes(40), minutes(42)), 2'000);
  expect_near(arrivals.between(minutes(100), minutes(102)), 2'000);
}

TEST(CloudDraws, ArrivalsEnd) {
  CloudOptions options;
  EXPECT_EQ(next_arrival(options, 1.0, kStartOfRun, 1.0), Time::max()) << "no rate at all";
  options.containers_per_minute = 60;
  EXPECT_EQ(next_arrival(options, 1.0, kStartOfRun, 2.0), kStartOfRun + std::chrono::seconds(2));
  options.arrivals_until = minutes(1);
  EXPECT_EQ(next_arrival(options, 1.0, kStartOfRun, 61.0), Time::max());
  options = {};
  options.peak_containers_per_minute = 60;
  options.peak_length = minutes(1);
  EXPECT_EQ(next_arrival(options, 1.0, kStartOfRun + minutes(2), 0.1), Time::max())
      << "the only peak is over";
}

TEST(CloudDraws, LayoutFillsTheTaskAndStaysInContainers) {
  for (const std::uint32_t rnics : {1u, 2u, 4u, 8u}) {
    for (const auto& [containers, stages] : std::map<std::uint32_t, std::uint32_t>{
             {1, 1}, {2, 1}, {3, 1}, {4, 2}, {8, 2}, {16, 4}, {24, 4}, {32, 4}, {128, 8}}) {
      const JobOptions job = job_of({.number = 7, .containers = containers, .rnics = rnics});
      EXPECT_EQ(job.tp, rnics);
      EXPECT_EQ(job.pp, stages) << containers;
      EXPECT_EQ(job.tp * job.pp * job.dp, job.gpus);
      EXPECT_EQ(job.gpus, containers * rnics);
      EXPECT_EQ(job.name, "task-7");
    }
  }
}

}  // namespace
}  // namespace bonescan
