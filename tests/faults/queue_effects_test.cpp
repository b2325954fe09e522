#include "tests/support/small_world.h"

namespace bonescan::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr RnicPair kVictims{RnicId(2), RnicId(6)};  ///< the first is a sender, the second idle

/// Three hosts send 1.8 times what the link of RNIC 0 takes.
WorldOptions overloaded() {
  WorldOptions options = small_world_options();
  options.fabric.link_rate = BitsPerSecond(100'000'000'000);
  options.latency.spike_ratio = 0.0;
  options.load.model = LoadModel::kLinks;
  options.load.ring_rate = BitsPerSecond(0);
  options.load.pipeline_rate = BitsPerSecond(0);
  for (const RnicId sender : {RnicId(2), RnicId(4), RnicId(6)}) {
    options.load.flows.push_back({.source = sender,
                                  .target = RnicId(0),
                                  .rate_share = 0.6,
                                  .from = kStartOfRun + seconds(1),
                                  .to = kStartOfRun + seconds(60)});
  }
  return options;
}

EffectSpec off(const SmallWorld& small, RnicId below) {
  EffectSpec spec;
  spec.kind = EffectKind::kControlOff;
  spec.on = {RefKind::kSwitch, small.world.fabric().tor_of(below).index()};
  return spec;
}

TEST(ControlOff, MakesWholeHostsWaitWhoseSendersArePaused) {
  SmallWorld small(overloaded());
  small.run_until(kStartOfRun + seconds(2));
  const double marked_ns = small.mean_ns(kVictims.first, kVictims.second);
  const auto effect = small.apply(off(small, RnicId(0)));
  const double paused_ns = small.mean_ns(kVictims.first, kVictims.second);
  EXPECT_GT(paused_ns, marked_ns + 1'000.0);
  effect->revert(small.world);
  EXPECT_NEAR(small.mean_ns(kVictims.first, kVictims.second), marked_ns, 0.05 * marked_ns);
}

TEST(ControlOff, OfASwitchWhoseQueuesNeverFillChangesNothing) {
  SmallWorld small(overloaded());
  small.run_until(kStartOfRun + seconds(2));
  const double marked_ns = small.mean_ns(kVictims.first, kVictims.second);
  const auto effect = small.apply(off(small, RnicId(1)));
  EXPECT_NEAR(small.mean_ns(kVictims.first, kVictims.second), marked_ns, 0.05 * marked_ns);
}

}  // namespace
}  // namespace bonescan::test
