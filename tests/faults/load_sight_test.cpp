// The truth sees what load does because of a fault, and nothing of what load does by itself.
#include "faults/load_sight.h"

#include "faults/ground_truth.h"
#include "faults/injector.h"
#include "tests/support/small_world.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace bonescan::test {
namespace {

/// RNICs 4 and 6 send 40 % of a link each to RNIC 0 from second 30 on.
WorldOptions loaded() {
  WorldOptions options = small_world_options();
  options.load.model = LoadModel::kLinks;
  for (const std::uint32_t source : {4u, 6u}) {
    options.load.flows.push_back({.source = RnicId(source),
                                  .target = RnicId(0),
                                  .rate_share = 0.4,
                                  .from = at_s(30),
                                  .to = at_s(600)});
  }
  return options;
}

std::uint16_t fixed_port(const void*, RnicId, RnicId) {
  return 50'000;
}

TEST(LoadSight, IsEqualToThePlanWhereNothingIsWrong) {
  SmallWorld small(loaded());
  const PlannedRoutes planned(small.world);
  LoadSight sight(small.world, planned);
  double most_ns = 0.0;
  for (std::int64_t ms = 25'000; ms < 60'000; ms += 777) {
    small.run_until(at_ms(ms));
    sight.look(small.now());
    for (const auto& [source, target] : small.pairs()) {
      const LoadDifference load = sight.compare(small.spec(source, target));
      EXPECT_EQ(load.is.wait_ns, load.was.wait_ns);
      EXPECT_EQ(load.is.pass_ratio, load.was.pass_ratio);
      most_ns = std::max(most_ns, load.is.wait_ns);
    }
  }
  EXPECT_GT(most_ns, 10.0) << "there is load";
}

TruthRecord record_of(const std::vector<EffectSpec>& effects,
                      std::int64_t until_second,
                      const WorldOptions& options = loaded()) {
  SmallWorld small(options);
  const std::vector<FaultSpec> faults = {{.name = "fault",
                                          .kind = "custom",
                                          .on = effects.front().on,
                                          .at = at_s(20),
                                          .duration = {},
                                          .effects = effects}};
  GroundTruth truth(small.world, faults, {.call = &fixed_port, .subject = nullptr}, 64, small.dscp);
  Injector injector(small.world);
  injector.observe(&GroundTruth::on_fault, &truth);
  EXPECT_TRUE(injector.schedule(faults).has_value());
  small.run_until(at_s(until_second));
  return truth.records().front();
}

TEST(LoadSight, MakesAFaultVisibleOnceLoadWaits) {
  EffectSpec slow = on_cable(EffectKind::kLinkRate, CableId(0));
  slow.rate_left = 0.5;
  const TruthRecord idle = record_of({slow}, 29);
  EXPECT_FALSE(idle.visible);
  EXPECT_FALSE(idle.time_zero.has_value());
  const TruthRecord busy = record_of({slow}, 60);
  EXPECT_TRUE(busy.visible);
  ASSERT_TRUE(busy.time_zero.has_value());
  EXPECT_GE(*busy.time_zero, at_s(30));
  EXPECT_LE(*busy.time_zero, at_ms(30'500));
  EXPECT_GT(busy.latency_factor, 1.25);
  EXPECT_LT(busy.loss_ratio, 0.01);
  for (const auto& [source, target] : busy.affected) {
    EXPECT_TRUE(source == RnicId(0) || target == RnicId(0) || busy.affected.size() > 12u);
  }
  slow.rate_left = 0.9;  // Enough for both.
  EXPECT_FALSE(record_of({slow}, 60).visible);
}

// Who waits changes from one phase of a step to the next.
TEST(LoadSight, MeetsWhoWaitsForTwoSecondsOnly) {
  WorldOptions options = loaded();
  for (const std::uint32_t source : {4u, 6u}) {
    options.load.flows.push_back({.source = RnicId(source),
                                  .target = RnicId(2),
                                  .rate_share = 0.4,
                                  .from = at_s(40),
                                  .to = at_s(42)});
  }
  const SmallWorld small(options);
  const Fabric& fabric = small.world.fabric();
  std::vector<EffectSpec> slow;
  for (const std::uint32_t rnic : {0u, 2u}) {
    slow.push_back(on_cable(EffectKind::kLinkRate, fabric.access_cable(RnicId(rnic))));
    slow.back().rate_left = 0.5;
  }
  const TruthRecord record = record_of(slow, 60, options);
  ASSERT_TRUE(record.time_zero.has_value());
  EXPECT_LE(*record.time_zero, at_ms(30'500));
  EXPECT_TRUE(std::any_of(record.affected.begin(), record.affected.end(), [](const auto& pair) {
    return pair.first != RnicId(0) && pair.second != RnicId(0) &&
           (pair.first == RnicId(2) || pair.second == RnicId(2));
  }));
}

}  // namespace
}  // namespace bonescan::test
