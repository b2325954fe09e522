// What operators report beside: a switch that drops, a cable that is slower than it says, optics
// that get worse.  Measured on loss ratios of paths and on single probes.
#include "model/fabric/link_physics.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace bonescan::test {
namespace {

using std::chrono::milliseconds;

EffectSpec on_switch(EffectKind kind, SwitchId id) {
  EffectSpec spec;
  spec.kind = kind;
  spec.on = {RefKind::kSwitch, id.index()};
  return spec;
}

/// How often the round trip of a pair goes through a switch.
int crossings(const SmallWorld& small, RnicId source, RnicId target, SwitchId id) {
  const Fabric& fabric = small.world.fabric();
  const ProbePath path = resolve_path(small.world, small.spec(source, target));
  int count = 0;
  for (const LinkPath* way : {&path.request, &path.answer}) {
    // Every switch on the way is at the end of one link: all but the last link end at one.
    for (const LinkId link : way->span().first(way->count - 1)) {
      const CableId cable = Fabric::cable_of(link);
      const SwitchId end =
          Fabric::is_up(link) ? fabric.upper_switch(cable) : fabric.lower_switch(cable);
      count += end == id ? 1 : 0;
    }
  }
  return count;
}

TEST(SwitchLoss, MultipliesOverTheCrossingsOfTheSwitch) {
  SmallWorld small;
  const Fabric& fabric = small.world.fabric();
  for (const SwitchId id : {fabric.tor(0, 1), fabric.aggregation(0)}) {
    EffectSpec spec = on_switch(EffectKind::kSwitchLoss, id);
    spec.ratio = 0.1;
    const auto effect = small.apply(spec);
    int most = 0;
    for (const auto& [source, target] : small.pairs()) {
      const int n = crossings(small, source, target, id);
      most = std::max(most, n);
      EXPECT_NEAR(small.added_loss(source, target), 1.0 - std::pow(0.9, n), 1e-5);
      EXPECT_DOUBLE_EQ(small.added_ns(source, target), 0.0);
    }
    EXPECT_EQ(most, 2);
    // Nobody routes around: the groups are as before, and so is everything once it ends.
    small.run_for(std::chrono::seconds(10));
    EXPECT_FALSE(small.world.links().any_excluded());
    effect->revert(small.world);
    for (const auto& [source, target] : small.pairs()) {
      EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-12);
    }
  }
}

// Of 400 source ports the request crosses the ToR with a flow of its own, and so does the answer:
// lost with 1 - 0.7^2 = 0.51, so 204 of 400, standard deviation 10, bound four of them.
TEST(SwitchLoss, OfAShareOfFlowsIsAllOrNothing) {
  SmallWorld small;
  EffectSpec spec = on_switch(EffectKind::kSwitchLoss, small.world.fabric().tor(0, 1));
  spec.ratio = 1.0;
  spec.packets.flow_share = 0.3;
  const auto effect = small.apply(spec);
  int hit = 0;
  for (std::uint16_t port = 50'000; port < 50'400; ++port) {
    small.port = port;
    const double found = small.added_loss(RnicId(1), RnicId(3));
    EXPECT_TRUE(found > 0.99 || found < 1e-9);
    EXPECT_EQ(small.probe(RnicId(1), RnicId(3), small.now() + milliseconds(1)) == kNoAnswer,
              found > 0.99);
    hit += found > 0.99 ? 1 : 0;
    EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(2)), 0.0, 1e-9) << "another ToR";
  }
  EXPECT_NEAR(hit, 204, 40);
}

/// RNIC 4 sends a share of the link's rate to RNIC 0 from second 10 on.
WorldOptions loaded(double share) {
  WorldOptions options = small_world_options();
  options.latency.spike_ratio = 0.0;
  options.load.model = LoadModel::kLinks;
  options.load.ring_rate = BitsPerSecond(0);
  options.load.pipeline_rate = BitsPerSecond(0);
  options.load.flows.push_back({.source = RnicId(4),
                                .target = RnicId(0),
                                .rate_share = share,
                                .from = at_s(10),
                                .to = at_s(60)});
  return options;
}

double mean_ns(SmallWorld& small, RnicId source, RnicId target) {
  constexpr int kProbes = 200;
  double sum = 0.0;
  for (int i = 0; i < kProbes; ++i) {
    sum += small.probe(source, target, small.now() + milliseconds(1));
  }
  return sum / kProbes;
}

TEST(LinkRate, MakesProbesLateOnlyUnderLoadThatTheCableCannotCarry) {
  struct Case {
    double share;
    bool late;
  };
  for (const Case& c : {Case{0.2, false}, Case{0.8, true}}) {
    SCOPED_TRACE(c.share);
    SmallWorld slow(loaded(c.share));
    SmallWorld twin(loaded(c.share));
    EffectSpec spec = on_cable(EffectKind::kLinkRate, slow.world.fabric().access_cable(RnicId(0)));
    spec.rate_left = 0.5;
    const auto effect = slow.apply(spec);
    for (SmallWorld* small : {&slow, &twin}) {
      small->run_until(at_s(2));
    }
    EXPECT_EQ(mean_ns(slow, RnicId(2), RnicId(0)), mean_ns(twin, RnicId(2), RnicId(0)))
        << "idle: nothing to see";
    for (SmallWorld* small : {&slow, &twin}) {
      small->run_until(at_s(12));
    }
    const double usual_ns = mean_ns(twin, RnicId(2), RnicId(0));
    const double slow_ns = mean_ns(slow, RnicId(2), RnicId(0));
    if (c.late) {
      EXPECT_GT(slow_ns, usual_ns + 1'000.0);
    } else {
      EXPECT_NEAR(slow_ns, usual_ns, 0.05 * usual_ns);
    }
    effect->revert(slow.world);
    EXPECT_EQ(mean_ns(slow, RnicId(6), RnicId(0)), mean_ns(twin, RnicId(6), RnicId(0)));
  }
}

// From 1e-5 to 1e-2 in 60 s: 1e-3 after 40 s, and 2.4e-4 after 27.6 s.
TEST(LinkBer, GrowsEvenlyInItsLogarithmUntilItsCliff) {
  SmallWorld small;
  small.run_until(at_s(10));
  EffectSpec spec = on_cable(EffectKind::kLinkBer, CableId(3));
  spec.direction = EffectDirection::kUp;
  spec.ber_from = 1e-5;
  spec.ber = 1e-2;
  spec.over = std::chrono::seconds(60);
  const auto effect = small.apply(spec);
  double before = 0.0;
  for (std::int64_t second = 0; second <= 70; ++second) {
    SCOPED_TRACE(second);
    small.run_until(at_s(10 + second) + milliseconds(1));
    const double now = small.added_loss(RnicId(3), RnicId(0));
    EXPECT_GE(now, before - 1e-12);
    before = now;
    // One step of 60 s / 64 back at most, and never ahead.
    const auto lost = [](double s) {
      return link_quality(1e-5 * std::pow(1e3, std::clamp(s, 0.0, 60.0) / 60.0), 1'024, false)
          .loss_ratio;
    };
    EXPECT_LE(now, lost(static_cast<double>(second) + 0.01) + 1e-4);
    EXPECT_GE(now, lost(static_cast<double>(second) - 1.0) - 1e-4);
    if (second < 27) {
      EXPECT_LT(now, 1e-9) << "corrected";
    }
  }
  EXPECT_NEAR(before, 1.0, 1e-4);
  EXPECT_NEAR(small.added_loss(RnicId(0), RnicId(4)), 0.0, 1e-9);
  effect->revert(small.world);
  EXPECT_NEAR(small.added_loss(RnicId(3), RnicId(0)), 0.0, 1e-12);
  const auto again = small.apply(spec);
  small.run_for(std::chrono::seconds(20));
  again->revert(small.world);
  small.run_for(std::chrono::seconds(60));
  EXPECT_NEAR(small.added_loss(RnicId(3), RnicId(0)), 0.0, 1e-12) << "no step after the end";
}

TEST(ReportedEffects, RefuseComponentsThatTheyCannotActOn) {
  EXPECT_FALSE(make_effect(on_cable(EffectKind::kSwitchLoss, CableId(0))).has_value());
  EXPECT_FALSE(make_effect(on_rnic(EffectKind::kLinkRate, RnicId(0))).has_value());
  EffectSpec spec = on_cable(EffectKind::kLinkBer, CableId(0));
  spec.ber = 1e-3;
  spec.over = std::chrono::seconds(1);
  EXPECT_FALSE(make_effect(spec).has_value()) << "from where?";
}

}  // namespace
}  // namespace bonescan::test
