#include "tests/support/scheduler_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using test::Bench;

/// The longest time between two visits of a pair, from either end, in periods.
int longest_gap(Bench& bench, int periods) {
  std::map<std::pair<EndpointId, EndpointId>, int> last;
  int longest = 0;
  for (int period = 0; period < periods; ++period) {
    for (const ProbeRequest& request : bench.step()) {
      const auto ends = std::minmax(request.ends.source, request.ends.target);
      const auto [known, first] = last.try_emplace({ends.first, ends.second}, period);
      longest = first ? longest : std::max(longest, period - known->second);
      known->second = period;
    }
  }
  return longest;
}

TEST(ProbeScheduler, CounterPhasedEndsVisitAPairHalfASweepApart) {
  for (const std::uint32_t hosts : {10U, 18U, 26U}) {
    SCOPED_TRACE(hosts);
    const int sweep = static_cast<int>(hosts) - 1;
    Bench shuffled(hosts);
    shuffled.all_ready();
    Bench in_step(hosts, {.counter_phase = true});
    // Whoever becomes ready later falls into step.
    for (std::uint32_t i = 0; i < hosts; ++i) {
      in_step.set(i, MembershipKind::kReady);
      in_step.step();
    }
    const int meanwhile = longest_gap(in_step, 9 * sweep);
    EXPECT_LE(meanwhile, sweep + sweep / 8 + 1) << "while they fall into step";
    const int before = longest_gap(shuffled, 3 * sweep);
    const int after = longest_gap(in_step, 3 * sweep);
    std::printf("sweep %d: longest gap %d, counter-phased %d\n", sweep, before, after);
    EXPECT_LE(after, sweep / 2 + 2);
    EXPECT_GT(before, sweep / 2 + 2);
  }
}

// A jump into step would skip targets, which then wait for nearly two sweeps.
TEST(ProbeScheduler, FallingIntoStepLeavesNoTargetUnvisitedForLong) {
  constexpr int kSweep = 25;
  for (const int late : {1, 5, 12, 13, 20, 24}) {
    SCOPED_TRACE(late);
    Bench bench(kSweep + 1, {.counter_phase = true});
    for (std::uint32_t i = 0; i + 1 < kSweep + 1; ++i) {
      bench.set(i, MembershipKind::kReady);
    }
    std::map<Pair, int> last;
    int longest = 0;
    for (int period = 0; period < 12 * kSweep; ++period) {
      if (period == late) {
        bench.set(kSweep, MembershipKind::kReady);
      }
      for (const ProbeRequest& request : bench.step()) {
        const auto [known, first] = last.try_emplace(request.ends, period);
        longest = first ? longest : std::max(longest, period - known->second);
        known->second = period;
      }
    }
    EXPECT_LE(longest, kSweep + kSweep / static_cast<int>(kSlipPeriods) + 1);
  }
}

TEST(ProbeScheduler, ANewCounterPhasedListIsSweptWithinASweep) {
  Bench bench(8, {.counter_phase = true});
  bench.all_ready();
  const EndpointId source(0);
  const std::vector<EndpointId> all = bench.scheduler.targets(source);
  bench.relist(source, {all.begin() + 3, all.end()});
  bench.step();
  bench.relist(source, all);
  for (int sweep = 0; sweep < 3; ++sweep) {
    std::set<EndpointId> seen;
    for (std::size_t period = 0; period < all.size(); ++period) {
      for (const ProbeRequest& request : bench.step()) {
        if (request.ends.source == source) {
          seen.insert(request.ends.target);
        }
      }
    }
    EXPECT_EQ(seen.size(), all.size());
  }
}

}  // namespace
}  // namespace bonescan
