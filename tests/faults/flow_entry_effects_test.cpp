// counters.set and flow.edit: what probes see of counters that jump and of entries that are wrong.
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

namespace bonescan::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Rail 0 of hosts in two segments: the job sends nothing between them.
constexpr RnicId kOn(0);
constexpr RnicId kPeer(6);
constexpr RnicId kOther(4);
constexpr double kOneUpcall = 452'000.0;

void warm_up(SmallWorld& small) {
  small.run_until(at_s(20));
  for (const RnicId peer : {kPeer, kOther}) {
    small.keep_probing(kOn, peer, milliseconds(250), small.now() + seconds(2));
  }
}

const Megaflow& entry_of(SmallWorld& small) {
  const FlowQuad& quad = small.world.flows()[*small.world.flows().find(kOn, kPeer)];
  return quad.encap[quad.end_of(kOn)];
}

EffectSpec edit(EntryEdit what) {
  EffectSpec spec = on_rnic(EffectKind::kFlowEdit, kOn);
  spec.peer = kPeer;
  spec.edit = what;
  return spec;
}

EffectSpec counters(std::uint32_t value) {
  EffectSpec spec = on_rnic(EffectKind::kCountersSet, kOn);
  spec.value = value;
  return spec;
}

TEST(CountersSet, CountsOnAndWrapsAtThirtyTwoBits) {
  SmallWorld small;
  warm_up(small);
  small.probe(kOn, kPeer, small.now() + milliseconds(250));
  ASSERT_GT(entry_of(small).hits, 5u);
  const auto restart = small.apply(counters(0));
  EXPECT_EQ(entry_of(small).hits, 0u);
  small.probe(kOn, kPeer, small.now() + milliseconds(250));
  EXPECT_EQ(entry_of(small).hits, 1u);
  const auto wrap = small.apply(counters(0xFFFFFFFF));
  small.probe(kOn, kPeer, small.now() + milliseconds(250));
  EXPECT_EQ(entry_of(small).hits, 0u);
}

TEST(CountersSet, ChangesNothingThatAProbeSees) {
  SmallWorld changed;
  SmallWorld same;
  warm_up(changed);
  warm_up(same);
  const auto effect = changed.apply(counters(0xFFFFFFF0));
  for (int i = 0; i < 400; ++i) {
    const Time at = changed.now() + milliseconds(250);
    ASSERT_EQ(changed.probe(kOn, kPeer, at), same.probe(kOn, kPeer, at)) << i;
  }
}

TEST(FlowEdit, AlteredSilencesItsPairAndNoOther) {
  SmallWorld small;
  warm_up(small);
  const auto effect = small.apply(edit(EntryEdit::kAlter));
  EXPECT_NEAR(small.condition(kOn, kPeer).loss_ratio, 1.0, 1e-9);
  EXPECT_NEAR(small.condition(kPeer, kOn).loss_ratio, 1.0, 1e-9);
  EXPECT_NEAR(small.added_loss(kOn, kOther), 0.0, 1e-9);
  EXPECT_EQ(small.keep_probing(kOn, kPeer, milliseconds(250), small.now() + seconds(30)), kNoAnswer)
      << "packets keep the entry";
  effect->revert(small.world);
  EXPECT_NE(small.probe(kOn, kPeer, small.now() + milliseconds(250)), kNoAnswer);
}

TEST(FlowEdit, DeletedMakesEachPacketAnUpcallUntilItIsPurged) {
  SmallWorld small;
  warm_up(small);
  const auto effect = small.apply(edit(EntryEdit::kDelete));
  small.keep_probing(kOn, kPeer, milliseconds(250), small.now() + seconds(5));
  EXPECT_DOUBLE_EQ(small.added_ns(kOn, kPeer), kOneUpcall);
  EXPECT_NEAR(small.added_loss(kOn, kPeer), 0.0, 1e-9);
  EXPECT_DOUBLE_EQ(small.added_ns(kOn, kOther), 0.0);
  effect->revert(small.world);
  small.keep_probing(kOn, kPeer, milliseconds(250), small.now() + seconds(2));
  EXPECT_DOUBLE_EQ(small.added_ns(kOn, kPeer), 0.0);
}

TEST(FlowEdit, OfAPairWithinAHostDoesNothing) {
  SmallWorld small;
  EffectSpec spec = edit(EntryEdit::kAlter);
  spec.peer = RnicId(1);
  const std::size_t used = small.world.flows().used();
  small.apply(spec)->revert(small.world);
  EXPECT_EQ(small.world.flows().used(), used);
}

}  // namespace
}  // namespace bonescan::test
