// How long until full loss opens an incident, over onsets that fall anywhere in a sweep.
#include "tests/support/dice.h"
#include "tests/support/pipeline_bench.h"

#include <cstdio>

namespace bonescan::fakes {
namespace {

struct Delays {
  std::vector<double> sorted_s;
  int split = 0;  ///< runs in which the fault opened more than one incident

  double mean() const {
    double sum = 0.0;
    for (const double delay : sorted_s) {
      sum += delay;
    }
    return sum / static_cast<double>(sorted_s.size());
  }

  double quantile(double share) const {
    return sorted_s[static_cast<std::size_t>(share * static_cast<double>(sorted_s.size() - 1))];
  }
};

/// Full loss of what `hits(dice)` says, from a random moment on.
Delays delays_of(int hosts,
                 int runs,
                 std::uint64_t seed,
                 const std::function<FlowPredicate(test::Dice&)>& hits) {
  test::Dice dice(seed, 40);
  Delays delays;
  for (int run = 0; run < runs; ++run) {
    PipelineBench bench(hosts);
    bench.options.probing.counter_phase = true;
    bench.options.seed = seed + static_cast<std::uint64_t>(run);
    const Time from = at_s(40) + dice.between(Duration(0), std::chrono::seconds(hosts));
    bench.world.effects.push_back({.from = from, .hits = hits(dice), .lose_one_in = 1});
    bench.run(120);
    delays.split += bench.incidents().size() > 1 ? 1 : 0;
    EXPECT_FALSE(bench.incidents().empty()) << "seed=" << seed << " run=" << run;
    if (!bench.incidents().empty()) {
      delays.sorted_s.push_back(seconds(bench.incidents().front().opened - from));
    }
  }
  std::sort(delays.sorted_s.begin(), delays.sorted_s.end());
  return delays;
}

TEST(PipelineLossDelay, OfOnePairIsAtMostHalfASweepAndTwoSeconds) {
  for (const int hosts : {10, 18, 26}) {
    const int sweep = hosts - 1;
    SCOPED_TRACE(sweep);
    const Delays delays = delays_of(hosts, 60, 41, [hosts](test::Dice& dice) {
      const EndpointId one(dice.below(static_cast<std::uint32_t>(hosts)));
      const EndpointId other((one.index() + 1 + dice.below(static_cast<std::uint32_t>(hosts - 1))) %
                             static_cast<std::uint32_t>(hosts));
      return [one, other](const FlowKey& flow) {
        return (flow.source == one && flow.target == other) ||
               (flow.source == other && flow.target == one);
      };
    });
    std::printf("one pair, sweep %d s: mean %.2f s, p95 %.2f s, worst %.2f s, seed=41\n",
                sweep,
                delays.mean(),
                delays.quantile(0.95),
                delays.sorted_s.back());
    EXPECT_EQ(delays.split, 0);
    EXPECT_LE(delays.mean(), 8.0);
    EXPECT_LE(delays.sorted_s.back(), sweep / 2.0 + 2.0);
  }
}

TEST(PipelineLossDelay, OfASharedComponentIsThreeSecondsAtMost) {
  struct Case {
    const char* name;
    std::function<FlowPredicate(test::Dice&)> hits;
  };

  const Case cases[] = {
      {"an RNIC", [](test::Dice& dice) { return to_endpoint(EndpointId(dice.below(18))); }},
      {"a ToR's uplink", [](test::Dice& dice) {
         const std::uint32_t tor = dice.below(9);
         return [tor](const FlowKey& flow) {
           return (flow.source.index() / 2 == tor) != (flow.target.index() / 2 == tor);
         };
       }}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Delays delays = delays_of(18, 40, 43, c.hits);
    std::printf("%s, sweep 17 s: mean %.2f s, p95 %.2f s, worst %.2f s, seed=43\n",
                c.name,
                delays.mean(),
                delays.quantile(0.95),
                delays.sorted_s.back());
    std::printf("%d of 40 runs opened more than one incident\n", delays.split);
    EXPECT_LE(delays.quantile(0.95), 3.0);
  }
}

}  // namespace
}  // namespace bonescan::fakes
