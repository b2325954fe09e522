// The rules of a pressed revalidator, by themselves: what Open vSwitch documents, as tables, and
// the flow limit against one that is kept the plain way, sweep by sweep.
#include "model/overlay/revalidator.h"

#include "sim/base/rng_stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(FlowLimit, FollowsTheDurationOfTheSweep) {
  struct Case {
    const char* name;
    std::uint32_t limit;
    std::uint64_t flows;
    int sweep_ms;
    std::uint32_t next;
  };
  for (const Case& c : {Case{"fast, and room to grow", 10'000, 5'000, 10, 11'000},
                        Case{"fast, at the most", 200'000, 5'000'000, 10, 200'000},
                        Case{"small tables never grow it", 10'000, 1'500, 200, 10'000},
                        Case{"1,000 ms", 10'000, 50'000, 1'000, 10'000},
                        Case{"1,300 ms", 10'000, 50'000, 1'300, 10'000},
                        Case{"1,301 ms", 10'000, 50'000, 1'301, 7'500},
                        Case{"2,000 ms", 10'000, 50'000, 2'000, 7'500},
                        Case{"2,001 ms", 10'000, 50'000, 2'001, 5'000},
                        Case{"3,999 ms are three seconds", 10'000, 50'000, 3'999, 3'333},
                        Case{"no lower than 1,000", 1'500, 50'000, 9'000, 1'000},
                        Case{"an instant sweep", 10'000, 11, 0, 11'000},
                        Case{"an instant sweep of few flows", 10'000, 10, 0, 10'000}}) {
    EXPECT_EQ(next_flow_limit(c.limit, c.flows, milliseconds(c.sweep_ms), 200'000), c.next)
        << c.name;
  }
  EXPECT_EQ(next_flow_limit(9'900, 1'000'000, milliseconds(1), 10'000), 10'000u);
}

/// The same rules over real numbers, one `if` each.
double naive_limit(double limit, double flows, double ms, double most) {
  ms = std::max(1.0, std::floor(ms));
  if (ms > 2'000) {
    limit = std::floor(limit / std::floor(ms / 1'000));
  }
  if (ms > 1'300 && ms <= 2'000) {
    limit = std::floor(0.75 * limit);
  }
  if (ms < 1'000 && limit < std::floor(flows * 1'000 / ms)) {
    limit = limit + 1'000;
  }
  return std::min(std::max(limit, 1'000.0), most);
}

TEST(FlowLimit, AgreesWithOneKeptSweepBySweep) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const RngStream draws(seed, Purpose::kTest, 71);
    std::uint32_t limit = kFirstFlowLimit;
    double naive = kFirstFlowLimit;
    for (std::uint32_t sweep = 0; sweep < 200; ++sweep) {
      const std::uint64_t flows = draws.at(3 * sweep) % 400'000;
      const Duration cost = microseconds(1 + draws.at(3 * sweep + 1) % 20);
      const double load = static_cast<double>(draws.at(3 * sweep + 2) % 90) / 100.0;
      const Duration time = sweep_time(flows, cost, slowdown(load));
      limit = next_flow_limit(limit, flows, time, 200'000);
      naive = naive_limit(
          naive, static_cast<double>(flows), static_cast<double>(time.count()) * 1e-6, 200'000);
      ASSERT_EQ(static_cast<double>(limit), naive) << "seed=" << seed << " sweep " << sweep;
    }
  }
}

TEST(Pressure, BeginsAboveTheLimitAndPurgesAboveTwiceTheLimit) {
  struct Case {
    std::uint64_t flows;
    bool pressed;
    bool purged;
  };
  for (const Case& c : {Case{1'000, false, false},
                        Case{1'001, true, false},
                        Case{2'000, true, false},
                        Case{2'001, true, true}}) {
    const HostPressure pressure = pressure_of(c.flows, 1'000);
    EXPECT_EQ(pressure.installs, !c.pressed) << c.flows;
    EXPECT_EQ(pressure.max_idle, c.pressed ? milliseconds(100) : Duration{}) << c.flows;
    EXPECT_EQ(purges(c.flows, 1'000), c.purged) << c.flows;
  }
}

// 5 packets a second are one in 200 ms; max-revalidator is 500 ms, so 250 ms are a slow sweep.
TEST(ShouldRevalidate, SparesFastFlowsAndFreshOffloadedOnes) {
  struct Case {
    const char* name;
    SweptFlow flow;
    int last_sweep_ms;
    std::uint32_t pps;
    OvsVersion version;
    bool kept;
  };
  using enum OvsVersion;
  for (const Case& c :
       {Case{"sweeps are fast", {seconds(9), 0, false}, 249, 5, kV33, true},
        Case{"no lower limit", {seconds(9), 0, false}, 900, 0, kV33, true},
        Case{"slow", {milliseconds(200), 1, false}, 250, 5, kV33, false},
        Case{"just fast enough", {milliseconds(199), 1, false}, 250, 5, kV33, true},
        Case{"many packets", {milliseconds(900), 5, false}, 250, 5, kV33, true},
        Case{"many, yet too few", {seconds(1), 5, false}, 250, 5, kV33, false},
        Case{"no packet counts as one", {milliseconds(300), 0, false}, 250, 5, kV33, false},
        Case{"offloaded, no news yet", {milliseconds(1'999), 0, true}, 250, 5, kV33, true},
        Case{"offloaded, no news for long", {seconds(2), 0, true}, 250, 5, kV33, false},
        Case{"before the grace was there", {milliseconds(1'999), 0, true}, 250, 5, kV31, false},
        Case{"and before that", {milliseconds(1'999), 0, true}, 250, 5, kV217, false}}) {
    OverlayOptions options;
    options.version = c.version;
    options.min_revalidate_pps = c.pps;
    EXPECT_EQ(should_revalidate(c.flow, milliseconds(c.last_sweep_ms), options), c.kept) << c.name;
  }
}

TEST(Slowdown, IsThatOfAQueueAndBounded) {
  EXPECT_EQ(slowdown(0.0), 1.0);
  EXPECT_DOUBLE_EQ(slowdown(0.5), 2.0);
  EXPECT_DOUBLE_EQ(slowdown(0.9), 10.0);
  EXPECT_EQ(slowdown(0.95), 20.0);
  EXPECT_EQ(slowdown(1.0), 20.0);
}

}  // namespace
}  // namespace bonescan
