// rule.remove, rule.alter, offload.remove, counters.freeze, process.stop: what probes see of them.
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <functional>

namespace bonescan::test {
namespace {

constexpr RnicId kOn(3);  // host 1, rail 1
constexpr double kTwoLookups = 104'000.0;

EffectSpec rule(EffectKind kind, RuleRole role, std::optional<RnicId> peer = {}) {
  EffectSpec spec = on_rnic(kind, kOn);
  spec.rule = role;
  spec.peer = peer;
  return spec;
}

// Cold flows are translated when the first packet comes: a broken rule is in force at once.  A
// probe needs both ways, so a rule of one direction silences both probing directions.
TEST(RuleEffect, SilencesExactlyThePairsWhosePacketsMeetTheRule) {
  const RnicId peer(5);  // host 2
  const HostId host(1);
  struct Case {
    const char* name;
    EffectSpec spec;
    std::function<bool(const Fabric&, RnicId, RnicId)> one_way;
  };
  const auto from = [](const Fabric&, RnicId source, RnicId) { return source == kOn; };
  const auto to = [](const Fabric&, RnicId, RnicId target) { return target == kOn; };
  // An encap rule belongs to the host's bridge: both of its RNICs use it.
  const auto host_to_peer = [&](const Fabric& fabric, RnicId source, RnicId target) {
    return fabric.host_of(source) == host && target == peer;
  };
  const Case cases[] = {
      {"classify gone", rule(EffectKind::kRuleRemove, RuleRole::kClassify), from},
      {"encap gone", rule(EffectKind::kRuleRemove, RuleRole::kEncap, peer), host_to_peer},
      {"deliver gone", rule(EffectKind::kRuleRemove, RuleRole::kDeliver), to},
      {"deliver loops", rule(EffectKind::kRuleAlter, RuleRole::kDeliver), to},
      {"encap loops", rule(EffectKind::kRuleAlter, RuleRole::kEncap, peer), host_to_peer},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    SmallWorld small;
    const Fabric& fabric = small.world.fabric();
    small.run_until(at_s(5));
    const auto effect = small.apply(c.spec);
    for (const auto& [source, target] : small.pairs()) {
      const bool hit = c.one_way(fabric, source, target) || c.one_way(fabric, target, source);
      EXPECT_NEAR(small.added_loss(source, target), hit ? 1.0 : 0.0, 1e-5)
          << source.index() << " -> " << target.index();
    }
    small.run_until(at_s(6));
    effect->revert(small.world);
    for (const auto& [source, target] : small.pairs()) {
      EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-9);
    }
  }
}

// An installed megaflow keeps its actions until the revalidator (every 500 ms) has compared them.
TEST(RuleEffect, ReachesAWarmFlowWithTheNextSweep) {
  for (const EffectKind kind : {EffectKind::kRuleRemove, EffectKind::kRuleAlter}) {
    SmallWorld small;
    const Time sweep = small.world.clocks(kOn).sweeps.at_or_before(at_s(20));
    small.keep_probing(RnicId(0), kOn, std::chrono::milliseconds(100), sweep);
    small.run_until(sweep + std::chrono::milliseconds(100));
    const auto effect = small.apply(rule(kind, RuleRole::kDeliver));
    for (const int ms : {101, 200, 499}) {
      EXPECT_NE(small.probe(RnicId(0), kOn, sweep + std::chrono::milliseconds(ms)), kNoAnswer);
      EXPECT_NEAR(small.added_loss(RnicId(0), kOn), 0.0, 1e-9);
    }
    // A pair that was never probed is cold: lost at once.
    EXPECT_NEAR(small.added_loss(RnicId(1), kOn), 1.0, 1e-5);
    for (const int ms : {501, 900}) {
      EXPECT_EQ(small.probe(RnicId(0), kOn, sweep + std::chrono::milliseconds(ms)), kNoAnswer);
      EXPECT_NEAR(small.added_loss(RnicId(0), kOn), 1.0, 1e-5);
    }
    effect->revert(small.world);
    EXPECT_NE(small.probe(RnicId(0), kOn, sweep + std::chrono::milliseconds(1'600)), kNoAnswer);
  }
}

// Entries vanish at once; the software megaflows stay and are slow for as long as packets come.
TEST(OffloadRemove, PutsWarmFlowsOnTheSlowPathUntilTheyAreInstalledAgain) {
  SmallWorld small;
  const RnicId source(0);
  small.keep_probing(source, kOn, std::chrono::milliseconds(500), at_s(20));
  EXPECT_DOUBLE_EQ(small.added_ns(source, kOn), 0.0);
  const auto effect = small.apply(on_rnic(EffectKind::kOffloadRemove, kOn));
  EXPECT_DOUBLE_EQ(small.added_ns(source, kOn), kTwoLookups);
  EXPECT_NEAR(small.added_loss(source, kOn), 0.0, 1e-12);
  EXPECT_DOUBLE_EQ(small.added_ns(source, RnicId(5)), 0.0);
  // Still slow a minute later; reverting does not bring an entry back.
  effect->revert(small.world);
  const std::uint32_t slow =
      small.keep_probing(source, kOn, std::chrono::milliseconds(500), at_s(80));
  EXPECT_GT(slow, 104'000u);
  // Silent for longer than max-idle: the flow ages out, and the next packet installs it anew.
  EXPECT_GT(small.probe(source, kOn, at_s(100)), 800'000u);
  EXPECT_LT(small.probe(source, kOn, at_ms(100'010)), 60'000u);
  EXPECT_DOUBLE_EQ(small.added_ns(source, kOn), 0.0);
}

/// Four minutes of steady probing of a pair, counters frozen at 60 s; mean RTT in us before and
/// after.
struct Figure18 {
  double before_us = 0.0;
  double after_us = 0.0;
  int lost = 0;
};

Figure18 freeze(RnicId source, RnicId frozen) {
  SmallWorld small;
  Figure18 seen;
  int before = 0;
  int after = 0;
  std::unique_ptr<Effect> effect;
  for (int second = 1; second <= 240; ++second) {
    if (second == 60) {
      effect = small.apply(on_rnic(EffectKind::kCountersFreeze, frozen));
    }
    const std::uint32_t rtt = small.probe(source, kOn, at_s(second));
    if (rtt == kNoAnswer) {
      ++seen.lost;
    } else if (second > 5 && second < 60) {
      seen.before_us += rtt / 1'000.0;
      ++before;
    } else if (second > 75) {
      seen.after_us += rtt / 1'000.0;
      ++after;
    }
  }
  seen.before_us /= before;
  seen.after_us /= after;
  return seen;
}

// The shape of the paper's Figure 18: 16 us become about 120 us, and nothing is lost.
TEST(CountersFreeze, TurnsSixteenMicrosecondsIntoAHundredAndTwenty) {
  const Figure18 seen = freeze(RnicId(4), kOn);  // Another segment, another rail: four links.
  EXPECT_NEAR(seen.before_us, 16.0, 1.5);
  EXPECT_NEAR(seen.after_us, 120.0, 3.0);
  EXPECT_EQ(seen.lost, 0);
  const Figure18 elsewhere = freeze(RnicId(4), RnicId(6));
  EXPECT_NEAR(elsewhere.after_us, 16.0, 1.5);
}

// Ageing needs max-idle (10 s), a stale read and a sweep (500 ms): nothing is seen before that.
TEST(CountersFreeze, IsSeenOnlyAfterAgeingAndOnlyWithTraffic) {
  SmallWorld small;
  const RnicId busy(4);
  const RnicId idle(0);
  small.keep_probing(busy, kOn, std::chrono::milliseconds(200), at_s(30));
  const auto effect = small.apply(on_rnic(EffectKind::kCountersFreeze, kOn));
  Time first = kNever;
  for (Time at = at_ms(30'200); at <= at_s(50); at += std::chrono::milliseconds(200)) {
    small.probe(busy, kOn, at);
    if (first == kNever && small.added_ns(busy, kOn) > 0.0) {
      first = at;
    }
  }
  EXPECT_GE(first, at_ms(38'800));  // A counter read up to 1 s before the freeze still counts.
  EXPECT_LE(first, at_ms(40'800));
  EXPECT_DOUBLE_EQ(small.added_ns(busy, kOn), kTwoLookups);
  EXPECT_DOUBLE_EQ(small.added_ns(idle, kOn), 0.0);
  // Thawed, a flow that keeps sending stays in software; after a pause it is offloaded again.
  effect->revert(small.world);
  small.keep_probing(busy, kOn, std::chrono::milliseconds(200), at_s(60));
  EXPECT_DOUBLE_EQ(small.added_ns(busy, kOn), kTwoLookups);
  small.probe(busy, kOn, at_s(80));
  small.probe(busy, kOn, at_ms(80'100));
  EXPECT_DOUBLE_EQ(small.added_ns(busy, kOn), 0.0);
}

TEST(ProcessStop, OfAnAgentLeavesEveryProbeToItsHostUnanswered) {
  SmallWorld small;
  const HostId host = small.world.fabric().host_of(kOn);
  const auto effect = small.apply(on_process(RefKind::kAgent, host));
  Time at = at_ms(1);
  for (const auto& [source, target] : small.pairs()) {
    at += std::chrono::milliseconds(1);
    const bool dead = small.world.fabric().host_of(target) == host;
    EXPECT_EQ(small.probe(source, target, at) == kNoAnswer, dead);
    // The network itself is as it was.
    EXPECT_NEAR(small.added_loss(source, target), 0.0, 1e-9);
  }
  effect->revert(small.world);
  EXPECT_NE(small.probe(RnicId(0), kOn, at + std::chrono::seconds(1)), kNoAnswer);
}

TEST(ProcessStop, OfVswitchdDropsColdFlowsAndPassesWarmOnes) {
  SmallWorld small;
  const RnicId warm(0);
  const RnicId cold(4);
  small.keep_probing(warm, kOn, std::chrono::milliseconds(500), at_s(20));
  const auto effect = small.apply(on_process(RefKind::kOvs, small.world.fabric().host_of(kOn)));
  EXPECT_NEAR(small.added_loss(warm, kOn), 0.0, 1e-9);
  EXPECT_NEAR(small.added_loss(cold, kOn), 1.0, 1e-5);
  EXPECT_NEAR(small.added_loss(kOn, cold), 1.0, 1e-5);
  EXPECT_NEAR(small.added_loss(warm, RnicId(5)), 0.0, 1e-9);
  EXPECT_NE(small.probe(warm, kOn, at_ms(20'100)), kNoAnswer);
  EXPECT_EQ(small.probe(cold, kOn, at_ms(20'200)), kNoAnswer);
  // Nobody sweeps there: its flows outlive a silence that ages out the two of the other host, so
  // the next packet meets two upcalls (452 us each), not four, and no loss.
  const std::uint32_t after_silence = small.probe(warm, kOn, at_s(50));
  EXPECT_GT(after_silence, 2 * 452'000u);
  EXPECT_LT(after_silence, 3 * 452'000u);
  effect->revert(small.world);
  EXPECT_GT(small.probe(cold, kOn, at_s(52)), 800'000u);  // Upcalls are answered again.
  EXPECT_LT(small.probe(cold, kOn, at_ms(52'010)), 60'000u);
}

}  // namespace
}  // namespace bonescan::test
