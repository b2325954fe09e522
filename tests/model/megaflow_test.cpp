// What a megaflow does in the cases that can be written down; the rest is in the differential test.
#include "model/overlay/megaflow.h"

#include "model/probe_path.h"
#include "sim/base/rng_stream.h"

#include <set>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// One flow under clocks whose phases follow from a seed.
struct Bench {
  explicit Bench(std::uint32_t seed, Reoffload reoffload = Reoffload::kNever) {
    options.reoffload = reoffload;
    const RngStream draws(seed, Purpose::kTest, 3);
    sweeps = {kStartOfRun + nanoseconds(draws.at(0) % 500'000'000), milliseconds(500)};
    refreshes = {kStartOfRun + nanoseconds(draws.at(1) % 1'000'000'000), seconds(1)};
  }

  FlowClocks clocks() const { return {sweeps, refreshes, options}; }

  FlowPlace hit_at(Time at) { return hit(flow, clocks(), at); }

  FlowPlace place_at(Time at) {
    settle(flow, clocks(), at);
    return flow.place;
  }

  void freeze(Time at) {
    settle(flow, clocks(), at);
    refreshes.stop(at);
    rearm(flow, clocks());
  }

  /// The first millisecond at which the flow, left alone, is not where it was.
  Time leaves_place(Time from) const {
    const FlowPlace before = flow.place;
    for (Time at = from;; at += milliseconds(1)) {
      Megaflow copy = flow;
      settle(copy, clocks(), at);
      if (copy.place != before) {
        return at;
      }
    }
  }

  OverlayOptions options;
  PeriodicClock sweeps;
  PeriodicClock refreshes;
  Megaflow flow;
};

constexpr std::uint32_t kSeeds = 40;
constexpr Time kLater = kStartOfRun + seconds(100);

TEST(Megaflow, FirstPacketIsAnUpcallAndTheNextAreOffloaded) {
  Bench bench(1);
  EXPECT_EQ(bench.hit_at(kLater), FlowPlace::kAbsent);
  EXPECT_EQ(bench.hit_at(kLater), FlowPlace::kOffloaded);
  EXPECT_EQ(bench.hit_at(kLater + seconds(9)), FlowPlace::kOffloaded);
}

TEST(Megaflow, IdleFlowIsEvictedBetweenMaxIdleAndThatPlusSweepAndRefresh) {
  std::set<std::int64_t> waits_ms;
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Bench bench(seed);
    bench.hit_at(kLater);
    bench.hit_at(kLater + milliseconds(700));
    const Duration wait = bench.leaves_place(kLater + seconds(1)) - (kLater + milliseconds(700));
    EXPECT_GE(wait, bench.options.max_idle);
    EXPECT_LE(wait,
              bench.options.max_idle + bench.options.max_revalidator +
                  bench.options.counter_refresh + milliseconds(1));
    EXPECT_EQ(bench.place_at(kLater + seconds(20)), FlowPlace::kAbsent);
    waits_ms.insert(wait.count() / 1'000'000);
  }
  EXPECT_GT(waits_ms.size(), kSeeds / 2) << "phases of hosts and RNICs matter";
}

TEST(Megaflow, GapAboveMaxIdleCostsOneUpcall) {
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    Bench bench(seed);
    for (int visit = 0; visit < 5; ++visit) {
      for (int probe = 0; probe < 10; ++probe) {
        const FlowPlace found =
            bench.hit_at(kLater + seconds(13) * visit + milliseconds(100) * probe);
        EXPECT_EQ(found, probe == 0 ? FlowPlace::kAbsent : FlowPlace::kOffloaded)
            << "seed=" << seed << " visit " << visit << " probe " << probe;
      }
    }
  }
}

TEST(Megaflow, GapBelowMaxIdleCostsNothing) {
  Bench bench(1);
  bench.hit_at(kLater);
  for (int i = 1; i < 50; ++i) {
    EXPECT_EQ(bench.hit_at(kLater + seconds(9) * i), FlowPlace::kOffloaded);
  }
}

TEST(Megaflow, StaleCountersPutABusyFlowIntoSoftwareForever) {
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Bench bench(seed);
    const Time frozen = kLater + milliseconds(300);
    hit_continuously(bench.flow, bench.clocks(), kLater - seconds(50), frozen);
    bench.freeze(frozen);
    Time became{};
    for (Time at = frozen; at < frozen + seconds(60); at += milliseconds(10)) {
      hit_continuously(bench.flow, bench.clocks(), at, at + milliseconds(10));
      if (became == Time{} && bench.flow.place == FlowPlace::kSoftware) {
        became = at;
      }
      ASSERT_EQ(bench.flow.place, became == Time{} ? FlowPlace::kOffloaded : FlowPlace::kSoftware);
    }
    // The last refresh was up to one period before the freeze.
    EXPECT_GE(became - frozen,
              bench.options.max_idle - bench.options.counter_refresh - milliseconds(10));
    EXPECT_LE(became - frozen, bench.options.max_idle + bench.options.max_revalidator);
    const Time thawed = frozen + seconds(60);
    settle(bench.flow, bench.clocks(), thawed);
    bench.refreshes.resume(thawed);
    rearm(bench.flow, bench.clocks());
    hit_continuously(bench.flow, bench.clocks(), thawed, thawed + seconds(300));
    EXPECT_EQ(bench.flow.place, FlowPlace::kSoftware) << "a thaw does not offload it again";
    EXPECT_EQ(bench.place_at(thawed + seconds(312)), FlowPlace::kAbsent) << "only silence ends it";
  }
}

TEST(Megaflow, StaleCountersWithReoffloadMakeASawtooth) {
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    Bench bench(seed, Reoffload::kOnUpcall);
    bench.freeze(kLater);
    std::vector<Time> installs;
    for (Time at = kLater; at < kLater + seconds(200); at += milliseconds(100)) {
      hit_continuously(bench.flow, bench.clocks(), at, at + milliseconds(100));
      ASSERT_EQ(bench.flow.place, FlowPlace::kOffloaded);
      if (installs.empty() || installs.back() != bench.flow.installed) {
        installs.push_back(bench.flow.installed);
      }
    }
    ASSERT_GE(installs.size(), 18u);
    for (std::size_t i = 1; i < installs.size(); ++i) {
      EXPECT_GE(installs[i] - installs[i - 1], bench.options.max_idle);
      EXPECT_LE(installs[i] - installs[i - 1],
                bench.options.max_idle + bench.options.max_revalidator);
    }
  }
}

TEST(Megaflow, SilentFlowIsDeletedWholeEvenIfCountersAreStale) {
  for (const Reoffload reoffload : {Reoffload::kNever, Reoffload::kOnUpcall}) {
    Bench bench(2, reoffload);
    bench.hit_at(kLater);
    bench.hit_at(kLater + seconds(1));
    bench.freeze(kLater + seconds(2));
    for (Time at = kLater + seconds(2); at < kLater + seconds(30); at += milliseconds(50)) {
      ASSERT_NE(bench.place_at(at), FlowPlace::kSoftware);
    }
    EXPECT_EQ(bench.flow.place, FlowPlace::kAbsent);
  }
}

/// Refreshes far apart: the sweep that wants to delete the entry is the first to see the hit.
TEST(Megaflow, HitThatNoRefreshHasReportedKeepsTheEntry) {
  Bench bench(1);
  bench.options.counter_refresh = seconds(40);
  bench.refreshes = {kStartOfRun + seconds(1), seconds(40)};  // 81 s, 121 s
  bench.sweeps = {kStartOfRun, milliseconds(500)};
  bench.hit_at(kLater);
  const Time hit = kLater + seconds(9);
  bench.hit_at(hit);
  const Time sweep = kLater + milliseconds(10'500);
  EXPECT_EQ(bench.place_at(sweep), FlowPlace::kOffloaded);
  EXPECT_EQ(bench.flow.used, sweep) << "the counter was read at the sweep";
  EXPECT_EQ(bench.place_at(sweep + milliseconds(10'499)), FlowPlace::kOffloaded);
  EXPECT_EQ(bench.place_at(sweep + milliseconds(10'500)), FlowPlace::kAbsent);
}

/// The bug: traffic after a pause was dated back to the last refresh before it began.
TEST(Megaflow, BurstIsNotReportedByARefreshBeforeIt) {
  Bench bench(1);
  bench.sweeps = {kStartOfRun, milliseconds(500)};
  bench.refreshes = {kStartOfRun, seconds(1)};
  bench.hit_at(kLater + milliseconds(100));
  hit_continuously(
      bench.flow, bench.clocks(), kLater + milliseconds(4'300), kLater + milliseconds(4'600));
  EXPECT_EQ(bench.flow.used, kLater + milliseconds(100));
  EXPECT_EQ(bench.flow.refresh_due, kLater + seconds(5));
}

/// The bug: an entry in constant use was deleted between the thaw and the first refresh after it.
TEST(Megaflow, BusyFlowOutlivesAFreezeShorterThanMaxIdle) {
  Bench bench(1);
  bench.options.reoffload = Reoffload::kOnUpcall;
  bench.sweeps = {kStartOfRun + milliseconds(400), milliseconds(500)};
  bench.refreshes = {kStartOfRun + milliseconds(900), seconds(1)};
  // Last refresh at -0.1 s, thaw at 10.1 s, the sweep at 10.4 s, the next refresh at 10.9 s.
  bench.refreshes.stop(kLater);
  bench.refreshes.resume(kLater + milliseconds(10'100));
  hit_continuously(bench.flow, bench.clocks(), kLater - seconds(50), kLater + seconds(30));
  EXPECT_EQ(bench.flow.installed, kLater - seconds(50));
}

TEST(Megaflow, LosingTheEntryLeavesTheSoftwareFlow) {
  Bench bench(1);
  bench.hit_at(kLater);
  lose_offload(bench.flow, bench.clocks(), kLater + seconds(1));
  EXPECT_EQ(bench.hit_at(kLater + seconds(2)), FlowPlace::kSoftware);
  EXPECT_EQ(bench.hit_at(kLater + seconds(11)), FlowPlace::kSoftware);
  EXPECT_EQ(bench.hit_at(kLater + seconds(22)), FlowPlace::kAbsent);
  EXPECT_EQ(bench.hit_at(kLater + seconds(23)), FlowPlace::kOffloaded);
}

/// Figure 18 of the paper: 16 us become 120 us on the pairs of one RNIC.
TEST(Megaflow, StaleCountersTurnSixteenMicrosecondsIntoAHundredAndTwenty) {
  Engine engine;
  WorldOptions options;
  options.fabric = {.segments = 2, .hosts_per_segment = 1, .rails = 8, .aggregation_switches = 2};
  options.jobs = {{.gpus = 16, .tp = 8, .pp = 2, .dp = 1, .ready_spread = seconds(10)}};
  World world(options, engine);
  engine.run_until(kStartOfRun + seconds(30));
  const ProbeSpec spec{.source = RnicId(6), .target = RnicId(14), .source_port = 50'000};
  world.flows().find_or_add(spec.source, spec.target, world.jobs());
  const auto rtt_us = [&](Time now) {
    engine.run_until(now);
    return path_condition(world, spec, now).rtt_ns * 1e-3;
  };
  EXPECT_NEAR(rtt_us(kStartOfRun + seconds(60)), 15.0, 1.1);
  world.freeze_counters(spec.target);
  EXPECT_NEAR(rtt_us(kStartOfRun + seconds(68)), 15.0, 1.1);
  for (int s = 71; s < 300; s += 7) {
    EXPECT_NEAR(rtt_us(kStartOfRun + seconds(s)), 120.0, 2.0) << s;
  }
  const ProbeSpec untouched{.source = RnicId(5), .target = RnicId(13), .source_port = 50'000};
  EXPECT_NEAR(path_condition(world, untouched, engine.now()).rtt_ns, 15'000.0, 1.0);
}

}  // namespace
}  // namespace bonescan
