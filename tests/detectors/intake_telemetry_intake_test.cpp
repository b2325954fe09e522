#include "detectors/intake/telemetry_intake.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Time at(std::int64_t ms) {
  return Time(milliseconds(ms));
}

/// (milliseconds, endpoint)
using Samples = std::vector<std::pair<std::int64_t, std::uint32_t>>;

Samples pass(TelemetryIntake& intake, std::int64_t now_ms, const Samples& came) {
  std::vector<ThroughputSample> samples;
  for (const auto& [ms, endpoint] : came) {
    samples.push_back({at(ms), EndpointId(endpoint), 1});
  }
  intake.samples(at(now_ms), samples);
  Samples passed;
  for (const ThroughputSample& sample : samples) {
    passed.emplace_back(nanoseconds(sample.at) / 1'000'000, sample.endpoint.index());
  }
  return passed;
}

TEST(TelemetryIntake, SamplesComeInOrderOnceAndAreCounted) {
  TelemetryIntake intake(2, {});
  EXPECT_EQ(pass(intake, 1'000, {{1'000, 1}, {1'000, 0}}), (Samples{{1'000, 0}, {1'000, 1}}));
  EXPECT_EQ(pass(intake, 2'000, {{2'000, 0}, {2'000, 0}}), (Samples{{2'000, 0}}));
  EXPECT_EQ(pass(intake, 5'000, {{5'100, 0}}), (Samples{{5'100, 0}})) << "a clock that is ahead";
  EXPECT_EQ(pass(intake, 5'000, {{3'000, 0}}), Samples{}) << "overtaken";
  const IntakeCounts& counts = intake.sample_counts(EndpointId(0));
  EXPECT_EQ(counts.received, 3u);
  EXPECT_EQ(counts.missing, 2u);
  EXPECT_EQ(counts.expected, 5u);
  EXPECT_EQ(counts.duplicates, 1u);
  EXPECT_EQ(counts.late, 1u);
}

TEST(TelemetryIntake, SamplesWaitForLateOnes) {
  TelemetryIntake intake(2, {.lateness = seconds(2)});
  EXPECT_EQ(pass(intake, 2'000, {{2'000, 0}}), Samples{});
  EXPECT_EQ(pass(intake, 3'000, {{1'000, 0}, {3'000, 0}}), (Samples{{1'000, 0}}));
  EXPECT_EQ(pass(intake, 4'000, {}), (Samples{{2'000, 0}}));
  EXPECT_EQ(pass(intake, 5'000, {}), (Samples{{3'000, 0}}));
  EXPECT_EQ(intake.sample_counts(EndpointId(0)).missing, 0u);
}

TEST(TelemetryIntake, JitterOfASamplerIsNoGap) {
  TelemetryIntake intake(1, {});
  for (const std::int64_t ms : {1'000, 2'400, 3'000, 4'300, 4'900, 6'100}) {
    pass(intake, ms, {{ms, 0}});
  }
  EXPECT_EQ(intake.sample_counts(EndpointId(0)).missing, 0u);
}

TEST(TelemetryIntake, EventsPassOnce) {
  TelemetryIntake intake(2, {});
  const MembershipEvent ready{at(10), EndpointId(0), MembershipKind::kReady};
  const MembershipEvent moved{at(20), EndpointId(0), MembershipKind::kAddressChanged};
  std::vector<MembershipEvent> events = {moved, ready, moved};
  intake.events(at(100), events);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, MembershipKind::kAddressChanged) << "the order is left as it came";
  intake.events(at(200), events);
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(intake.duplicate_events(), 3u);
  const MembershipEvent again{at(300), EndpointId(0), MembershipKind::kReady};
  events = {again};
  intake.events(at(400), events);
  EXPECT_EQ(events.size(), 1u) << "another event of the same kind";
}

}  // namespace
}  // namespace bonescan
