#include "model/host/cloud.h"

#include "tests/support/recorded_cloud.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using test::RecordedCloud;

Time at(Duration since_start) {
  return kStartOfRun + since_start;
}

CloudTraceTask traced(Duration when, std::uint32_t containers, Duration lifetime) {
  return {.at = when, .containers = containers, .rnics = 8, .lifetime = lifetime};
}

TEST(Cloud, LeadsATaskThroughItsLife) {
  CloudOptions options;
  options.trace = {traced(minutes(1), 2, minutes(10))};
  options.trace[0].ready_spread = minutes(2);
  RecordedCloud run(options);
  run.run_for(hours(1));
  const std::vector<CloudEventKind> kinds = {CloudEventKind::kSubmitted,
                                             CloudEventKind::kReady,
                                             CloudEventKind::kReady,
                                             CloudEventKind::kStopping,
                                             CloudEventKind::kGone};
  ASSERT_EQ(run.events.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(run.events[i].kind, kinds[i]) << i;
  }
  EXPECT_EQ(run.events[0].at, at(minutes(1)));
  EXPECT_GE(run.events[1].at, at(minutes(1)));
  EXPECT_LE(run.events[2].at, at(minutes(3)));
  EXPECT_EQ(run.events[3].at, at(minutes(11)));
  EXPECT_EQ(run.events[4].at, at(minutes(11) + seconds(10)));
  EXPECT_EQ(run.cloud.counts().tasks, 0u);
}

TEST(Cloud, TellsTheStateOfAContainerBetweenItsEvents) {
  CloudOptions options;
  options.trace = {traced(seconds(0), 1, minutes(10))};
  options.trace[0].ready_spread = minutes(5);
  RecordedCloud run(options);
  run.run_for(Duration(0));
  const auto state = [&] { return run.cloud.state(run.cloud.tasks()[0], 0, run.engine.now()); };
  const Time ready = run.cloud.tasks()[0].containers[0].ready_at;
  EXPECT_EQ(state(), ContainerState::kPulling);
  run.engine.run_until(ready - Duration(1));
  EXPECT_EQ(state(), ContainerState::kStarting);
  run.engine.run_until(ready);
  EXPECT_EQ(state(), ContainerState::kReady);
  run.engine.run_until(at(minutes(10)));
  EXPECT_EQ(state(), ContainerState::kStopping);
}

TEST(Cloud, AdmitsInOrderAndNobodyOvertakesTheHead) {
  CloudOptions options;
  options.trace = {traced(seconds(0), 6, minutes(10)),
                   traced(seconds(1), 4, minutes(10)),   // Has to wait for the first.
                   traced(seconds(2), 1, minutes(10))};  // Would fit, but is not the head.
  RecordedCloud run(options);
  run.run_for(minutes(9));
  EXPECT_EQ(run.cloud.counts().tasks, 1u);
  EXPECT_EQ(run.cloud.counts().waiting, 2u);
  run.run_for(minutes(2));
  const Time freed = at(minutes(10) + seconds(10));
  EXPECT_EQ(run.times(1, CloudEventKind::kSubmitted), std::vector{freed});
  EXPECT_EQ(run.times(2, CloudEventKind::kSubmitted), std::vector{freed});
}

TEST(Cloud, RefusesWhatTheQueueCannotHold) {
  CloudOptions options;
  options.queue_limit = 1;
  for (int i = 0; i < 4; ++i) {
    options.trace.push_back(traced(seconds(i), 8, minutes(10)));
  }
  RecordedCloud run(options);
  run.run_for(minutes(1));
  EXPECT_EQ(run.cloud.counts().arrived, 4u);
  EXPECT_EQ(run.cloud.counts().admitted, 1u);
  EXPECT_EQ(run.cloud.counts().waiting, 1u);
  EXPECT_EQ(run.cloud.counts().refused, 2u);
}

TEST(Cloud, EndsATaskWhenACrashIsNoticed) {
  CloudOptions options;
  options.crash_share = 1.0;
  options.trace = {traced(seconds(0), 1, hours(5))};
  RecordedCloud run(options);
  run.run_for(minutes(5));
  const auto crashed = run.times(0, CloudEventKind::kCrashed);
  ASSERT_EQ(crashed.size(), 1u);
  EXPECT_LE(crashed[0], at(seconds(30)));
  EXPECT_EQ(run.times(0, CloudEventKind::kStopping), std::vector{crashed[0] + minutes(1)});
  EXPECT_EQ(run.cloud.counts().leases, 0u);
}

TEST(Cloud, NeverMakesAContainerReadyAfterItsTaskWasStopped) {
  CloudOptions options;
  options.trace = {traced(seconds(0), 8, minutes(1))};
  options.trace[0].ready_spread = minutes(10);
  RecordedCloud run(options);
  run.run_for(minutes(30));
  const auto ready = run.times(0, CloudEventKind::kReady);
  EXPECT_LT(ready.size(), 8u);
  EXPECT_TRUE(
      std::all_of(ready.begin(), ready.end(), [](Time when) { return when <= at(minutes(1)); }));
}

TEST(Cloud, RestartsEveryAgentOnceInARollingUpgrade) {
  CloudOptions options;
  options.upgrade_at = minutes(30);
  options.upgrade_over = minutes(10);
  options.agent_down = seconds(5);
  options.trace = {traced(seconds(0), 8, hours(5))};
  RecordedCloud run(options);
  run.run_for(hours(2));
  const auto down = run.times(0, CloudEventKind::kAgentDown);
  const auto up = run.times(0, CloudEventKind::kAgentUp);
  ASSERT_EQ(down.size(), 8u);
  ASSERT_EQ(up.size(), 8u);
  EXPECT_GE(*std::min_element(down.begin(), down.end()), at(minutes(30)));
  EXPECT_LE(*std::max_element(down.begin(), down.end()), at(minutes(40)));
  for (std::size_t i = 0; i < down.size(); ++i) {
    EXPECT_EQ(up[i] - down[i], seconds(5));
  }
}

TEST(Cloud, RestartsAgentsAtTheAskedRate) {
  CloudOptions options;
  options.agent_restarts_per_day = 24.0;
  options.trace = {traced(seconds(0), 8, hours(200))};
  RecordedCloud run(options);
  run.run_for(hours(100));
  const auto restarts = static_cast<double>(run.times(0, CloudEventKind::kAgentDown).size());
  EXPECT_NEAR(restarts, 800.0, 4.0 * std::sqrt(800.0));
}

TEST(Cloud, IsTheSameForTheSameSeedAndAnotherForAnother) {
  CloudOptions options;
  options.containers_per_minute = 5;
  options.crash_share = 0.05;
  options.agent_restarts_per_day = 50;
  RecordedCloud one(options, 3);
  RecordedCloud again(options, 3);
  RecordedCloud other(options, 4);
  one.run_for(hours(1));
  for (int i = 0; i < 60; ++i) {
    again.run_for(minutes(1));  // However the run is cut.
  }
  other.run_for(hours(1));
  EXPECT_EQ(one.events, again.events);
  EXPECT_NE(one.events, other.events);
}

TEST(Cloud, NumbersLeasesInTheOrderOfSubmission) {
  CloudOptions options;
  options.containers_per_minute = 10;
  options.initial_tasks = 3;
  RecordedCloud run(options);
  run.run_for(hours(1));
  std::uint32_t expected = 1;
  for (const RecordedCloud::Event& event : run.events) {
    if (event.kind == CloudEventKind::kSubmitted) {
      EXPECT_GE(event.first_lease, expected);
      expected = event.first_lease + 1;
    }
  }
  EXPECT_EQ(run.times(0, CloudEventKind::kReady).front(), kStartOfRun)
      << "initial tasks run already";
}

}  // namespace
}  // namespace bonescan
