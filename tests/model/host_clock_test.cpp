#include "model/host/host_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::uint32_t kHosts = 4'000;

Time at(Duration since_start) {
  return kStartOfRun + since_start;
}

TEST(HostClocks, AreExactUnlessAsked) {
  const HostClocks clocks(HostClockOptions{}, 1);
  for (std::uint32_t h = 0; h < 100; ++h) {
    EXPECT_EQ(clocks.offset(HostId(h), at(seconds(h))), Duration::zero());
    EXPECT_EQ(clocks.measured(HostId(h), microseconds(16)), microseconds(16));
  }
}

/// Standing offsets: mean 0, the standard deviation that was asked for, constant in time.
TEST(HostClocks, StandOffAsAsked) {
  const HostClocks clocks({.offset = microseconds(1)}, 3);
  double sum = 0.0;
  double squares = 0.0;
  for (std::uint32_t h = 0; h < kHosts; ++h) {
    const auto off = static_cast<double>(clocks.offset(HostId(h), at(seconds(5))).count());
    EXPECT_EQ(clocks.offset(HostId(h), at(minutes(50))).count(), static_cast<std::int64_t>(off));
    sum += off;
    squares += off * off;
  }
  const double standard_error = 1'000.0 / std::sqrt(double{kHosts});
  EXPECT_NEAR(sum / kHosts, 0.0, 4.0 * standard_error);
  EXPECT_NEAR(std::sqrt(squares / kHosts), 1'000.0, 4.0 * standard_error);
}

TEST(HostClocks, WanderStaysWithinItsAmplitudeAndAveragesOut) {
  const HostClocks clocks({.wander = nanoseconds(200), .wander_period = seconds(100)}, 3);
  for (std::uint32_t h = 0; h < 20; ++h) {
    std::int64_t most = 0;
    double sum = 0.0;
    constexpr int kSeconds = 20'000;
    for (int s = 0; s < kSeconds; ++s) {
      const std::int64_t off = clocks.offset(HostId(h), at(seconds(s))).count();
      most = std::max(most, std::abs(off));
      sum += static_cast<double>(off);
    }
    EXPECT_LE(most, 200);
    EXPECT_GE(most, 199);
    EXPECT_NEAR(sum / kSeconds, 0.0, 2.0);
  }
}

/// 1 ppm is 60 us in a minute, in holdover alone, and from its beginning.
TEST(HostClocks, RunAwayInHoldover) {
  const HostClocks clocks({.drift_ppm = 20.0, .holdover_share = 0.25, .holdover_from = minutes(10)},
                          3);
  std::uint32_t adrift = 0;
  for (std::uint32_t h = 0; h < kHosts; ++h) {
    const HostId host(h);
    EXPECT_EQ(clocks.offset(host, at(minutes(10))), Duration::zero());
    const double expected = clocks.in_holdover(host) ? clocks.rate_error(host) * 60.0 * 1e9 : 0.0;
    EXPECT_NEAR(static_cast<double>(clocks.offset(host, at(minutes(11))).count()), expected, 0.51);
    adrift += clocks.in_holdover(host) ? 1 : 0;
  }
  EXPECT_NEAR(adrift, 0.25 * kHosts, 4.0 * std::sqrt(0.25 * 0.75 * kHosts));
}

TEST(HostClocks, StepOnceAPeriodAndComeBack) {
  const HostClocks clocks(
      {.step = milliseconds(5), .step_period = minutes(1), .step_lasts = seconds(10)}, 3);
  for (std::uint32_t h = 0; h < 50; ++h) {
    int off_s = 0;
    int changes = 0;
    Duration last{};
    constexpr int kMinutes = 30;
    for (int s = 0; s < 60 * kMinutes; ++s) {
      const Duration off = clocks.offset(HostId(h), at(seconds(s)));
      EXPECT_LE(std::abs(off.count()), Duration(milliseconds(10)).count());
      off_s += off != Duration::zero() ? 1 : 0;
      changes += off != last ? 1 : 0;
      last = off;
    }
    EXPECT_NEAR(off_s, 10 * kMinutes, 3 * kMinutes) << "ten seconds a minute, less where they meet";
    EXPECT_NEAR(changes, 2 * kMinutes, 8);
  }
}

/// The oscillator is all that gets into a round trip: a step of seconds does not.
TEST(HostClocks, StepsDoNotGetIntoRoundTrips) {
  const HostClocks clocks({.drift_ppm = 50.0,
                           .step = seconds(100),
                           .step_period = seconds(1),
                           .step_lasts = seconds(1)},
                          7);
  for (std::uint32_t h = 0; h < kHosts; ++h) {
    const Duration measured = clocks.measured(HostId(h), microseconds(16));
    EXPECT_LE(std::abs((measured - microseconds(16)).count()), 4);
    EXPECT_EQ(clocks.measured(HostId(h), Duration::zero()), Duration::zero());
  }
}

TEST(HostClocks, FollowTheSeed) {
  const HostClockOptions options{.offset = microseconds(1), .wander = nanoseconds(50)};
  const HostClocks one(options, 1);
  const HostClocks same(options, 1);
  const HostClocks other(options, 2);
  EXPECT_EQ(one.offset(HostId(3), at(seconds(9))), same.offset(HostId(3), at(seconds(9))));
  EXPECT_NE(one.offset(HostId(3), at(seconds(9))), other.offset(HostId(3), at(seconds(9))));
  EXPECT_NE(one.offset(HostId(3), at(seconds(9))), one.offset(HostId(4), at(seconds(9))));
}

}  // namespace
}  // namespace bonescan
