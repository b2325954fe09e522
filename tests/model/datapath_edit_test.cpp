#include "model/overlay/datapath_edit.h"

#include "model/probe_path.h"
#include "model/world.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Two hosts; the flow from the first to the second, seen at the first.
class DatapathEdits : public testing::Test {
 protected:
  DatapathEdits() : world_(options(), engine_) {}

  static WorldOptions options() {
    WorldOptions options;
    options.fabric.segments = 1;
    options.fabric.hosts_per_segment = 2;
    options.fabric.rails = 1;
    options.fabric.aggregation_switches = 1;
    options.overlay.reoffload = Reoffload::kOnUpcall;
    return options;
  }

  Megaflow& flow() {
    FlowQuad& quad = world_.flows()[world_.flows().find_or_add(kFrom, kTo, world_.jobs())];
    world_.settle_quad(quad, engine_.now());
    return quad.encap[quad.end_of(kFrom)];
  }

  /// What a packet costs after a while; nothing if it is lost.
  std::optional<double> packet(Duration later = milliseconds(100)) {
    engine_.run_until(engine_.now() + later);
    return cross_bridge(world_, flow(), {kFrom, kFrom, kTo}, engine_.now());
  }

  void edit(DatapathEdit edit) { world_.edit_flow(kFrom, kFrom, kTo, edit); }

  double upcall_ns() const {
    return static_cast<double>(
        (world_.options().overlay.upcall + world_.options().overlay.slow_path).count());
  }

  double condition_loss() const {
    return path_condition(world_, {.source = kFrom, .target = kTo}, engine_.now()).loss_ratio;
  }

  static constexpr RnicId kFrom{0};
  static constexpr RnicId kTo{1};
  static constexpr HostId kHost{0};

  Engine engine_;
  World world_;
};

TEST_F(DatapathEdits, AlteredEntryDropsAndCountsUntilPurged) {
  ASSERT_EQ(packet(), upcall_ns());
  ASSERT_EQ(packet(), 0.0);
  edit(DatapathEdit::kAlter);
  const std::uint32_t hits = flow().hits;
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(packet(), std::nullopt);
  }
  EXPECT_EQ(flow().hits, hits + 50);
  EXPECT_EQ(flow().place, FlowPlace::kOffloaded);
  EXPECT_EQ(condition_loss(), 1.0);
  world_.purge_flows(kHost);
  EXPECT_EQ(packet(), upcall_ns());
  EXPECT_EQ(packet(), 0.0);
}

TEST_F(DatapathEdits, AlteredEntryIsEvictedLikeAnyOther) {
  packet();
  edit(DatapathEdit::kAlter);
  EXPECT_EQ(packet(), std::nullopt);
  EXPECT_EQ(packet(seconds(13)), upcall_ns());
  EXPECT_EQ(packet(), 0.0);
}

TEST_F(DatapathEdits, ChangeOfItsRuleWritesAnAlteredEntryAnew) {
  packet();
  edit(DatapathEdit::kAlter);
  const RuleKey own{kHost, RuleTable::kEncap, kTo};
  const RuleKey other{kHost, RuleTable::kEncap, kFrom};
  world_.change_rule(other, RuleState::kDropping);
  EXPECT_EQ(packet(seconds(1)), std::nullopt) << "of another flow";
  world_.change_rule(own, RuleState::kDropping);
  world_.change_rule(own, RuleState::kPresent);
  EXPECT_EQ(packet(seconds(1)), 0.0);
}

TEST_F(DatapathEdits, DeletedEntryCostsAnUpcallEachUntilPurged) {
  packet();
  edit(DatapathEdit::kDelete);
  for (const Duration later : {Duration(milliseconds(100)), Duration(seconds(60))}) {
    EXPECT_EQ(packet(later), upcall_ns());
    EXPECT_EQ(packet(), upcall_ns());
    EXPECT_EQ(flow().place, FlowPlace::kAbsent);
  }
  EXPECT_LT(condition_loss(), 1.0);
  world_.purge_flows(kHost);
  EXPECT_EQ(packet(), upcall_ns());
  EXPECT_EQ(packet(), 0.0);
}

TEST_F(DatapathEdits, ShadowedEntryIsNotCountedAndBecomesIdle) {
  packet();
  edit(DatapathEdit::kShadow);
  const std::uint32_t hits = flow().hits;
  for (int i = 0; i < 125; ++i) {
    EXPECT_EQ(packet(), std::nullopt);
  }
  EXPECT_EQ(flow().hits, hits);
  EXPECT_EQ(flow().place, FlowPlace::kAbsent);
  world_.purge_flows(kHost);
  EXPECT_EQ(packet(), std::nullopt);
  edit(DatapathEdit::kUnshadow);
  EXPECT_EQ(packet(), upcall_ns());
  EXPECT_EQ(packet(), 0.0);
}

// Somebody who looks for a flow that is not there cannot edit it.
TEST_F(DatapathEdits, NothingHappensToAnEntryThatIsNotThere) {
  edit(DatapathEdit::kAlter);
  EXPECT_EQ(packet(), upcall_ns());
  engine_.run_until(engine_.now() + seconds(20));
  edit(DatapathEdit::kDelete);
  EXPECT_EQ(packet(), upcall_ns());
  EXPECT_EQ(packet(), 0.0);
}

TEST_F(DatapathEdits, OtherDirectionIsAsItWas) {
  packet();
  edit(DatapathEdit::kAlter);
  FlowQuad& quad = world_.flows()[*world_.flows().find(kFrom, kTo)];
  EXPECT_TRUE(cross_bridge(world_, quad.decap[0], {kFrom, kTo, kFrom}, engine_.now()));
}

}  // namespace
}  // namespace bonescan
