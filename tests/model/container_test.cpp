#include "model/host/container.h"

#include "model/world.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

WorldOptions two_jobs() {
  WorldOptions options;
  options.fabric = {.segments = 2, .hosts_per_segment = 8, .rails = 8, .aggregation_switches = 2};
  options.jobs = {{.name = "first", .gpus = 64, .tp = 8, .pp = 2, .dp = 4},
                  {.name = "second",
                   .gpus = 48,
                   .tp = 8,
                   .pp = 3,
                   .dp = 2,
                   .start = seconds(100),
                   .ready_spread = seconds(60)}};
  return options;
}

TEST(Container, GoesThroughItsLifeInOrder) {
  Engine engine;
  World world(two_jobs(), engine);
  EXPECT_TRUE(world.container_events().empty());
  engine.run_until(kStartOfRun + minutes(10));
  std::map<HostId, std::vector<ContainerEvent>> by_host;
  Time last = kStartOfRun;
  for (const ContainerEvent& event : world.container_events()) {
    EXPECT_GE(event.at, last);
    last = event.at;
    by_host[event.host].push_back(event);
  }
  ASSERT_EQ(world.containers().size(), 14u);
  EXPECT_EQ(by_host.size(), 14u) << "no host serves two jobs";
  for (const Container& container : world.containers()) {
    const JobOptions& job = world.jobs()[container.job.index()].options();
    const auto& events = by_host[container.host];
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].state, ContainerState::kPulling);
    EXPECT_EQ(events[1].state, ContainerState::kStarting);
    EXPECT_EQ(events[2].state, ContainerState::kReady);
    EXPECT_EQ(events[0].at, kStartOfRun + job.start);
    EXPECT_EQ(events[2].at, container.ready_at);
    EXPECT_LE(events[1].at, events[2].at);
    EXPECT_GE(container.ready_at, kStartOfRun + job.start);
    EXPECT_LE(container.ready_at, kStartOfRun + job.start + job.ready_spread);
  }
}

TEST(Container, IsReadyFromItsTimeOnAndTheJobFromTheLastOne) {
  Engine engine;
  World world(two_jobs(), engine);
  for (std::size_t j = 0; j < world.jobs().size(); ++j) {
    Time last{};
    for (const Container& container : world.containers()) {
      if (container.job.index() == j) {
        last = std::max(last, container.ready_at);
      }
    }
    EXPECT_EQ(world.jobs()[j].running_since(), last);
  }
  const Container first = world.containers().front();
  engine.run_until(first.ready_at - Duration(1));
  EXPECT_FALSE(world.container_ready(world.fabric().rnic(first.host, 0)));
  engine.run_until(first.ready_at);
  EXPECT_TRUE(world.container_ready(world.fabric().rnic(first.host, 0)));
}

TEST(Container, ReadyTimesFillTheSpreadEvenly) {
  const JobOptions job{.start = seconds(30), .ready_spread = seconds(100)};
  std::vector<int> counts(10);
  for (std::uint32_t p = 0; p < 10'000; ++p) {
    const Time ready = draw_ready_time(job, {}, JobId(0), p, 5);
    const auto bin = (ready - kStartOfRun - seconds(30)) / seconds(10);
    ASSERT_GE(bin, 0);
    ASSERT_LT(bin, 10);
    ++counts[static_cast<std::size_t>(bin)];
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 1'000, 4.5 * std::sqrt(900.0));
  }
}

TEST(Container, TheAskedShareIsLateByTheDelay) {
  const JobOptions job{.ready_spread = seconds(100)};
  for (const double share : {0.0, 0.02, 0.5, 1.0}) {
    int late = 0;
    for (std::uint32_t p = 0; p < 10'000; ++p) {
      const Time on_time = draw_ready_time(job, {}, JobId(1), p, 5);
      const Time ready =
          draw_ready_time(job, {.share = share, .delay = minutes(4)}, JobId(1), p, 5);
      if (ready != on_time) {
        ASSERT_EQ(ready - on_time, minutes(4)) << "lateness moves nobody's draw";
        ++late;
      }
    }
    EXPECT_NEAR(late, share * 10'000, 4.0 * std::sqrt(10'000 * share * (1.0 - share)));
  }
}

}  // namespace
}  // namespace bonescan
