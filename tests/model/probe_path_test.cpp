#include "model/probe_path.h"

#include <cmath>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// One prober and one peer in another segment; a job without traffic between the two.
class ProbePathTest : public testing::Test {
 protected:
  ProbePathTest() : world_(options(), engine_) { pass(seconds(30)); }

  static WorldOptions options() {
    WorldOptions options;
    options.fabric = {.segments = 2, .hosts_per_segment = 2, .rails = 2, .aggregation_switches = 2};
    options.latency.base_loss_ratio = 0.0;
    options.latency.spike_ratio = 0.0;
    options.jobs = {{.gpus = 8, .tp = 8, .pp = 1, .dp = 1, .ready_spread = seconds(10)}};
    return options;
  }

  void pass(Duration time) { engine_.run_until(engine_.now() + time); }

  /// One probe now, 10 ms after the one before.
  std::uint32_t probe() {
    pass(milliseconds(10));
    const QuadId quad = world_.flows().find_or_add(spec_.source, spec_.target, world_.jobs());
    const ProbeContext context{
        .spec = spec_, .path = resolve_path(world_, spec_), .source_load = {}, .target_load = {}};
    return evaluate_probe(world_, LoadTimeline(), context, world_.flows()[quad], engine_.now());
  }

  /// How many of `count` probes are lost.
  int lost(int count) {
    int lost = 0;
    for (int i = 0; i < count; ++i) {
      lost += probe() == kNoAnswer ? 1 : 0;
    }
    return lost;
  }

  HostId here() const { return world_.fabric().host_of(spec_.source); }

  HostId there() const { return world_.fabric().host_of(spec_.target); }

  Engine engine_;
  World world_;
  ProbeSpec spec_{.source = RnicId(1), .target = RnicId(7), .source_port = 50'000};
};

TEST_F(ProbePathTest, FirstProbePaysFourUpcallsAndTheNextNone) {
  const double first_us = probe() * 1e-3;
  EXPECT_NEAR(first_us, 15.0 + 4 * (52.0 + 400.0), 3.0);
  for (int i = 0; i < 50; ++i) {
    EXPECT_NEAR(probe() * 1e-3, 15.0, 3.0);
  }
}

TEST_F(ProbePathTest, NobodyAnswersWithoutAnAgent) {
  EXPECT_EQ(lost(5), 0);
  world_.stop_agent(there());
  EXPECT_EQ(lost(5), 5);
  world_.start_agent(there());
  EXPECT_EQ(lost(5), 0);
}

TEST_F(ProbePathTest, NobodyAnswersBeforeTheContainerIsReady) {
  Engine engine;
  World world(options(), engine);
  Time first_ready = Time::max();
  for (const Container& container : world.containers()) {
    first_ready = std::min(first_ready, container.ready_at);
  }
  engine.run_until(first_ready - Duration(1));
  EXPECT_FALSE(resolve_path(world, spec_).answers);
  engine.run_until(kStartOfRun + seconds(10));
  EXPECT_TRUE(resolve_path(world, spec_).answers);
}

/// Hardware goes on forwarding; only a flow that is not installed needs ovs-vswitchd.
TEST_F(ProbePathTest, StoppedVswitchdDropsOnlyNewFlows) {
  EXPECT_EQ(lost(5), 0);
  world_.stop_vswitchd(there());
  EXPECT_EQ(lost(5), 0);
  spec_.source = RnicId(3);
  EXPECT_EQ(lost(5), 5);
  world_.start_vswitchd(there());
  EXPECT_EQ(lost(5), 0);
}

/// An installed megaflow follows the rules from the next sweep on, both when they go and come.
TEST_F(ProbePathTest, ARuleIsMissedFromTheNextSweepOn) {
  EXPECT_EQ(lost(5), 0);
  const RuleKey deliver{there(), RuleTable::kDeliver, spec_.target};
  for (const RuleState state : {RuleState::kMissing, RuleState::kPresent}) {
    const Time swept = world_.clocks(spec_.target).sweeps.after(engine_.now() + milliseconds(100));
    engine_.run_until(swept + milliseconds(100));
    world_.change_rule(deliver, state);
    const int before = lost(30);
    EXPECT_EQ(before, state == RuleState::kMissing ? 0 : 30) << "still by the old actions";
    engine_.run_until(swept + milliseconds(501));
    EXPECT_EQ(lost(20), state == RuleState::kMissing ? 20 : 0);
  }
}

/// Loss of both ways multiplies: a binomial count within four standard deviations.
TEST_F(ProbePathTest, LossOfBothWaysMultiplies) {
  constexpr int kProbes = 4'000;
  const ProbePath path = resolve_path(world_, spec_);
  LinkImpairment there;
  there.loss_ratio = 0.1;
  LinkImpairment back;
  back.loss_ratio = 0.2;
  world_.links().add(path.request.links[1], there);
  world_.links().add(path.answer.links[2], back);
  const double expected = 1.0 - 0.9 * 0.8;
  EXPECT_NEAR(path_condition(world_, spec_, engine_.now()).loss_ratio, expected, 1e-12);
  EXPECT_NEAR(
      lost(kProbes), kProbes * expected, 4.0 * std::sqrt(kProbes * expected * (1.0 - expected)));
}

TEST_F(ProbePathTest, DelayOfBothWaysAdds) {
  const ProbePath before = resolve_path(world_, spec_);
  LinkImpairment slow;
  slow.delay = microseconds(5);
  slow.queue_mean = microseconds(3);
  world_.links().add(before.request.links[0], slow);
  world_.links().add(before.answer.links[3], slow);
  const ProbePath after = resolve_path(world_, spec_);
  EXPECT_DOUBLE_EQ(after.fixed_ns - before.fixed_ns, 10'000.0);
  EXPECT_DOUBLE_EQ(after.queue_mean_ns, 6'000.0);
}

/// A dead trunk loses what hashes to it until the fabric converges, and nothing after.
TEST_F(ProbePathTest, FabricPortDownIsRoutedAroundAfterConvergence) {
  EXPECT_EQ(lost(5), 0);
  const CableId cable = Fabric::cable_of(resolve_path(world_, spec_).request.links[1]);
  const Time down = engine_.now();
  world_.set_port_down(cable);
  EXPECT_EQ(lost(60), 60);
  engine_.run_until(down + world_.options().fabric.convergence);
  EXPECT_EQ(lost(60), 0);
  EXPECT_NE(Fabric::cable_of(resolve_path(world_, spec_).request.links[1]), cable);
}

}  // namespace
}  // namespace bonescan
