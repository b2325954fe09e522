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
    const int before = longest_gap(shuffled, 3 * sweep);
    const int after = longest_gap(in_step, 3 * sweep);
    std::printf("sweep %d: longest gap %d, counter-phased %d\n", sweep, before, after);
    EXPECT_LE(after, sweep / 2 + 2);
    EXPECT_GT(before, sweep / 2 + 2);
  }
}

TEST(ProbeScheduler, CounterPhasedSweepsVisitEveryTargetOnceAndNewOnesFirst) {
  Bench bench(8, {.counter_phase = true});
  bench.all_ready();
  const EndpointId source(0);
  const std::vector<EndpointId> all = bench.scheduler.targets(source);
  const std::vector<EndpointId> some(all.begin() + 2, all.end());
  bench.relist(source, some);
  bench.step();
  bench.relist(source, all);
  std::vector<EndpointId> seen;
  for (int period = 0; period < 2 + 3 * 7; ++period) {
    for (const ProbeRequest& request : bench.step()) {
      if (request.ends.source == source) {
        seen.push_back(request.ends.target);
      }
    }
  }
  EXPECT_EQ(std::set<EndpointId>(seen.begin(), seen.begin() + 2),
            (std::set<EndpointId>{all[0], all[1]}));
  for (int sweep = 0; sweep < 3; ++sweep) {
    const auto first = seen.begin() + 2 + 7 * sweep;
    EXPECT_EQ(std::set<EndpointId>(first, first + 7).size(), 7U);
  }
}

}  // namespace
}  // namespace bonescan
