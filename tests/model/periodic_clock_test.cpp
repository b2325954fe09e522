#include "model/overlay/periodic_clock.h"

#include "sim/base/rng_stream.h"

#include <vector>

namespace bonescan {
namespace {

constexpr Time at(std::int64_t ns) {
  return Time(Duration(ns));
}

PeriodicClock clock_of(std::int64_t phase, std::int64_t period) {
  return {at(phase), Duration(period)};
}

TEST(PeriodicClock, TicksOnItsGridInBothDirections) {
  const PeriodicClock clock = clock_of(3, 10);
  struct Case {
    std::int64_t t, at_or_after, after, at_or_before;
  };
  for (const Case& c : {Case{3, 3, 13, 3},
                        Case{4, 13, 13, 3},
                        Case{12, 13, 13, 3},
                        Case{13, 13, 23, 13},
                        Case{2, 3, 3, -7},
                        Case{-7, -7, 3, -7},
                        Case{-8, -7, -7, -17}}) {
    SCOPED_TRACE(c.t);
    EXPECT_EQ(clock.at_or_after(at(c.t)), at(c.at_or_after));
    EXPECT_EQ(clock.after(at(c.t)), at(c.after));
    EXPECT_EQ(clock.at_or_before(at(c.t)), at(c.at_or_before));
  }
}

TEST(PeriodicClock, StopsForGoodOrUntilItResumes) {
  PeriodicClock clock = clock_of(0, 10);
  clock.stop(at(20));
  EXPECT_TRUE(clock.stopped());
  EXPECT_EQ(clock.at_or_after(at(5)), at(10));
  EXPECT_EQ(clock.at_or_after(at(11)), kNever) << "the tick at the stop does not happen";
  EXPECT_EQ(clock.at_or_before(at(99)), at(10));
  clock.resume(at(40));
  EXPECT_FALSE(clock.stopped());
  EXPECT_EQ(clock.at_or_after(at(11)), at(40)) << "the tick at the resumption happens";
  EXPECT_EQ(clock.at_or_before(at(39)), at(10));
  EXPECT_EQ(clock.at_or_before(at(40)), at(40));
}

TEST(PeriodicClock, IsRegularWhereNoGapIs) {
  PeriodicClock clock = clock_of(0, 10);
  clock.stop(at(20));
  clock.resume(at(40));
  EXPECT_TRUE(clock.regular(at(0), at(19)));
  EXPECT_FALSE(clock.regular(at(0), at(20)));
  EXPECT_FALSE(clock.regular(at(25), at(25)));
  EXPECT_FALSE(clock.regular(at(39), at(50)));
  EXPECT_TRUE(clock.regular(at(40), at(50)));
}

/// Gaps of any length, some without a tick in them, against a list of every tick.
TEST(PeriodicClock, AgreesWithAListOfItsTicks) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const RngStream draws(seed, Purpose::kTest, 5);
    const auto period = static_cast<std::int64_t>(draws.at(0) % 9 + 1);
    const auto phase = static_cast<std::int64_t>(draws.at(1) % 9);
    PeriodicClock clock = clock_of(phase, period);
    std::vector<bool> open(400, true);
    std::int64_t t = 0;
    for (std::uint64_t row = 2; t < 150; row += 2) {
      const std::int64_t from = t + static_cast<std::int64_t>(draws.at(row) % 20);
      t = from + static_cast<std::int64_t>(draws.at(row + 1) % 30);
      clock.stop(at(from));
      clock.resume(at(t));
      std::fill(open.begin() + from, open.begin() + t, false);
    }
    std::vector<std::int64_t> ticks;
    for (std::int64_t n = phase; n < 400; n += period) {
      if (open[static_cast<std::size_t>(n)]) {
        ticks.push_back(n);
      }
    }
    for (std::int64_t n = ticks.front(); n < 300; ++n) {
      const auto after = std::lower_bound(ticks.begin(), ticks.end(), n);
      ASSERT_EQ(clock.at_or_after(at(n)), at(*after)) << n;
      const auto before = std::upper_bound(ticks.begin(), ticks.end(), n);
      ASSERT_EQ(clock.at_or_before(at(n)), at(*(before - 1))) << n;
    }
  }
}

/// Periods that change, gaps between, against a list of every tick.
TEST(PeriodicClock, AgreesWithAListOfItsTicksWhenItsPeriodChanges) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const RngStream draws(seed, Purpose::kTest, 6);
    std::int64_t period = static_cast<std::int64_t>(draws.at(0) % 9 + 1);
    PeriodicClock clock = clock_of(0, period);
    std::vector<std::int64_t> ticks;
    std::int64_t from = 0;
    for (std::uint64_t row = 1; row < 12; ++row) {
      const std::int64_t to = from + 1 + static_cast<std::int64_t>(draws.at(row) % 40);
      for (std::int64_t tick = from; tick < to; tick += period) {
        ticks.push_back(tick);
      }
      period = static_cast<std::int64_t>(draws.at(100 + row) % 9 + 1);
      clock.restart(at(to), Duration(period));
      EXPECT_EQ(clock.period(), Duration(period));
      from = to;
    }
    ticks.push_back(from);
    for (std::int64_t n = 0; n <= from; ++n) {
      const auto after = std::lower_bound(ticks.begin(), ticks.end(), n);
      ASSERT_EQ(clock.at_or_after(at(n)), at(*after)) << n;
      const auto before = std::upper_bound(ticks.begin(), ticks.end(), n);
      ASSERT_EQ(clock.at_or_before(at(n)), at(*(before - 1))) << n;
    }
  }
}

}  // namespace
}  // namespace bonescan
