// Kinds that are several faults: each has a component of its own, and none hides the other.
#include "faults/kinds/fault_kind.h"
#include "faults/processes/failure_plan.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

namespace bonescan::test {
namespace {

std::vector<FaultSpec> planned(const World& world, const std::string& kind, std::uint64_t seed) {
  FailureOptions options;
  options.kinds = {{.kind = kind}};
  options.count = 1;
  options.from = std::chrono::seconds(60);
  options.until = std::chrono::seconds(120);
  const auto faults = plan_failures(options, FaultSite(world), seed, std::chrono::seconds(300));
  BONESCAN_CHECK(faults.has_value());
  return *faults;
}

/// Pairs that lose something because of one fault alone.
std::vector<RnicPair> hit_by(SmallWorld& small, const FaultSpec& fault) {
  std::vector<std::unique_ptr<Effect>> effects;
  for (const EffectSpec& spec : fault.effects) {
    effects.push_back(small.apply(spec));
  }
  std::vector<RnicPair> hit;
  for (const auto& [source, target] : small.pairs()) {
    if (small.added_loss(source, target) > 1e-6) {
      hit.emplace_back(source, target);
    }
  }
  for (const auto& effect : effects) {
    effect->revert(small.world);
  }
  return hit;
}

TEST(BothLayers, AreARuleAndALinkAtOneMomentOfWhichNoneHidesTheOther) {
  SmallWorld small;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const auto faults = planned(small.world, "both-layers", seed);
    ASSERT_EQ(faults.size(), 2u);
    EXPECT_EQ(faults[0].at, faults[1].at);
    EXPECT_EQ(faults[0].duration, faults[1].duration);
    EXPECT_NE(faults[0].name, faults[1].name);
    for (const FaultSpec& fault : faults) {
      EXPECT_EQ(fault.kind, "both-layers");
    }
    const bool rule_first = faults[0].effects.front().kind == EffectKind::kRuleRemove;
    const FaultSpec& rule = rule_first ? faults[0] : faults[1];
    const FaultSpec& link = rule_first ? faults[1] : faults[0];
    EXPECT_EQ(rule.effects.front().rule, RuleRole::kEncap);
    EXPECT_EQ(link.effects.front().kind, EffectKind::kLinkLoss);
    EXPECT_EQ(link.on.kind, RefKind::kCable);
    const std::vector<RnicPair> dead = hit_by(small, rule);
    ASSERT_FALSE(dead.empty());
    // Of what the link hits, something lives while the rule is gone.
    std::vector<RnicPair> alive;
    std::ranges::set_difference(hit_by(small, link), dead, std::back_inserter(alive));
    EXPECT_FALSE(alive.empty());
    // And the pair whose rule is gone does not cross the link.
    const RnicId source = rule.on.rnic();
    const RnicId target = *rule.effects.front().peer;
    EXPECT_EQ(small.crossings(source, target, Fabric::up(link.on.cable())), 0);
    EXPECT_EQ(small.crossings(source, target, Fabric::down(link.on.cable())), 0);
  }
}

TEST(TwoFaults, AreALinkAndAnRnicElsewhereThatOverlap) {
  SmallWorld small;
  const Fabric& fabric = small.world.fabric();
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed=" << seed);
    const auto faults = planned(small.world, "two-faults", seed);
    ASSERT_EQ(faults.size(), 2u);
    ASSERT_EQ(faults[0].on.kind, RefKind::kCable) << "the link comes first";
    ASSERT_EQ(faults[1].on.kind, RefKind::kRnic);
    EXPECT_LE(faults[1].at, faults[0].at + std::chrono::seconds(30));
    EXPECT_LT(faults[1].at, faults[0].at + faults[0].duration) << "they overlap";
    EXPECT_NE(fabric.tor_of(faults[1].on.rnic()), fabric.lower_switch(faults[0].on.cable()));
  }
}

TEST(FaultsWith, LeavesOutWhatWouldBeginAfterTheRun) {
  SmallWorld small;
  const FaultSite site(small.world);
  const FaultKind& kind = *find_fault_kind("two-faults");
  const RngStream stream(3, Purpose::kTest, 1);
  const auto first = kind.draw(site, stream);
  ASSERT_TRUE(first.has_value());
  FaultSpec spec;
  spec.at = at_s(100);
  EXPECT_EQ(faults_with(kind, site, *first, spec, stream, at_s(200))->size(), 1u);
  EXPECT_EQ(faults_with(kind, site, *first, spec, stream, at_s(100))->size(), 0u);
  EXPECT_TRUE(
      faults_with(*find_fault_kind("crc-error"), site, *first, spec, stream, at_s(200))->empty());
}

}  // namespace
}  // namespace bonescan::test
