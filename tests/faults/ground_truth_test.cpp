#include "faults/ground_truth.h"

#include "faults/injector.h"
#include "model/probe_path.h"
#include "tests/support/small_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bonescan::test {
namespace {

using testing::SizeIs;

constexpr std::uint16_t kPort = 50'000;
constexpr RnicId kOn(3);

std::uint16_t fixed_port(const void*, RnicId, RnicId) {
  return kPort;
}

/// A small world with its injector and its truth.
class TruthBench {
 public:
  explicit TruthBench(std::vector<FaultSpec> specs,
                      const ConfounderOptions& confounders = {},
                      const WorldOptions& options = small_world_options())
      : faults(std::move(specs)),
        small(options),
        truth(small.world, faults, {.call = &fixed_port, .subject = nullptr}, 64, 26),
        injector(small.world) {
    injector.observe(&GroundTruth::on_fault, &truth);
    EXPECT_TRUE(injector.schedule(faults).has_value());
    injector.schedule(confounders, std::chrono::minutes(2));
  }

  TruthRecord only() const {
    const auto records = truth.records();
    EXPECT_EQ(records.size(), 1u);
    return records.empty() ? TruthRecord{} : records.front();
  }

  std::vector<FaultSpec> faults;
  SmallWorld small;
  GroundTruth truth;
  Injector injector;
};

FaultSpec fault(EffectSpec effect, std::int64_t at_second = 20, std::int64_t length_s = 0) {
  return {.name = "fault",
          .kind = "custom",
          .on = effect.on,
          .at = at_s(at_second),
          .duration = std::chrono::seconds(length_s),
          .effects = {effect}};
}

EffectSpec loss(CableId cable, double ratio, EffectDirection direction) {
  EffectSpec spec = on_cable(EffectKind::kLinkLoss, cable);
  spec.ratio = ratio;
  spec.direction = direction;
  return spec;
}

EffectSpec delay(CableId cable, Duration extra) {
  EffectSpec spec = on_cable(EffectKind::kLinkDelay, cable);
  spec.delay = extra;
  return spec;
}

EffectSpec rule(EffectKind kind, RuleRole role, std::optional<RnicId> peer = {}) {
  EffectSpec spec = on_rnic(kind, kOn);
  spec.rule = role;
  spec.peer = peer;
  return spec;
}

EffectSpec of_switch(EffectKind kind, SwitchId id) {
  EffectSpec spec;
  spec.kind = kind;
  spec.on = {RefKind::kSwitch, id.index()};
  return spec;
}

/// All pairs of the world that are visibly different now, by comparing their conditions.
std::vector<RnicPair> brute_force(const SmallWorld& small) {
  std::vector<RnicPair> affected;
  for (const auto& [source, target] : small.pairs()) {
    const PathCondition is = small.condition(source, target);
    const PathCondition was = small.healthy(source, target);
    if (is.loss_ratio - was.loss_ratio >= 0.01 || is.rtt_ns / was.rtt_ns >= 1.25) {
      affected.emplace_back(source, target);
    }
  }
  return affected;
}

struct KindCase {
  const char* name;
  EffectSpec effect;
  TruthLayer layer;
};

std::vector<KindCase> immediate_kinds() {
  const Fabric fabric(small_world_options().fabric);
  const CableId access = fabric.access_cable(kOn);
  const CableId uplink = fabric.fabric_cable(fabric.tor(0, 1), 1);
  EffectSpec flap = on_cable(EffectKind::kPortFlap, access);
  flap.down = std::chrono::seconds(2);
  flap.up = std::chrono::seconds(8);
  EffectSpec stall = on_rnic(EffectKind::kRnicStall, kOn);
  stall.packets.flow_share = 0.5;
  stall.delay = std::chrono::microseconds(50);
  return {
      {"loss, access", loss(access, 0.02, EffectDirection::kBoth), TruthLayer::kUnderlay},
      {"loss, one way of an uplink",
       loss(uplink, 0.5, EffectDirection::kUp),
       TruthLayer::kUnderlay},
      {"delay", delay(uplink, std::chrono::microseconds(20)), TruthLayer::kUnderlay},
      {"port down, access", on_cable(EffectKind::kPortDown, access), TruthLayer::kUnderlay},
      {"port down, RNIC", on_rnic(EffectKind::kPortDown, kOn), TruthLayer::kUnderlay},
      {"port down, uplink", on_cable(EffectKind::kPortDown, uplink), TruthLayer::kUnderlay},
      {"flap", flap, TruthLayer::kUnderlay},
      {"classify gone", rule(EffectKind::kRuleRemove, RuleRole::kClassify), TruthLayer::kOverlay},
      {"encap loops",
       rule(EffectKind::kRuleAlter, RuleRole::kEncap, RnicId(5)),
       TruthLayer::kOverlay},
      {"deliver gone", rule(EffectKind::kRuleRemove, RuleRole::kDeliver), TruthLayer::kOverlay},
      {"vswitchd", on_process(RefKind::kOvs, HostId(1)), TruthLayer::kOverlay},
      {"ToR gone", of_switch(EffectKind::kSwitchDown, fabric.tor_of(kOn)), TruthLayer::kUnderlay},
      {"higher switch gone",
       of_switch(EffectKind::kSwitchDown, fabric.aggregation(0)),
       TruthLayer::kUnderlay},
      {"RNIC broken", on_rnic(EffectKind::kRnicFail, kOn), TruthLayer::kUnderlay},
      {"firmware stalls", stall, TruthLayer::kUnderlay},
  };
}

// With cold flows every one of these is there at once, and the affected pairs are those that a
// comparison of all pairs finds at that moment.
TEST(GroundTruth, FindsTheAffectedPairsOfEveryImmediateKindByBruteForce) {
  for (const KindCase& c : immediate_kinds()) {
    SCOPED_TRACE(c.name);
    TruthBench bench({fault(c.effect)});
    bench.small.run_until(at_s(20));
    const TruthRecord record = bench.only();
    ASSERT_TRUE(record.time_zero.has_value());
    EXPECT_EQ(*record.time_zero, at_s(20));
    EXPECT_EQ(record.injected, at_s(20));
    EXPECT_EQ(record.layer, c.layer);
    EXPECT_TRUE(record.visible);
    EXPECT_FALSE(record.ended.has_value());
    EXPECT_EQ(record.affected, brute_force(bench.small));
    EXPECT_THAT(record.affected, testing::Not(SizeIs(0)));
  }
}

// A fabric port that is routed around after 800 ms was still visible.
TEST(GroundTruth, KeepsWhatWasAffectedBeforeRoutingConverged) {
  const Fabric fabric(small_world_options().fabric);
  TruthBench bench(
      {fault(on_cable(EffectKind::kPortDown, fabric.fabric_cable(fabric.tor(0, 1), 1)), 20, 30)});
  bench.small.run_until(at_s(60));
  const TruthRecord record = bench.only();
  EXPECT_TRUE(record.visible);
  EXPECT_DOUBLE_EQ(record.loss_ratio, 1.0 - bench.small.healthy(RnicId(0), kOn).loss_ratio);
  EXPECT_THAT(record.affected, testing::Not(SizeIs(0)));
  EXPECT_EQ(record.ended, at_s(50));
}

TEST(GroundTruth, DatesFrozenCountersFromTheFirstFlowThatAgesOut) {
  TruthBench bench({fault(on_rnic(EffectKind::kCountersFreeze, kOn), 60)});
  const std::vector<RnicPair> probed = {{RnicId(0), kOn}, {RnicId(4), kOn}, {kOn, RnicId(7)}};
  for (Time at = at_ms(200); at <= at_s(90); at += std::chrono::milliseconds(200)) {
    for (const auto& [source, target] : probed) {
      bench.small.probe(source, target, at);
    }
    if (at < at_ms(68'500)) {
      EXPECT_TRUE(at < at_s(60) || !bench.only().time_zero.has_value());
    }
  }
  const TruthRecord record = bench.only();
  ASSERT_TRUE(record.time_zero.has_value());
  EXPECT_GE(*record.time_zero, at_ms(68'500));
  EXPECT_LE(*record.time_zero, at_s(71));
  EXPECT_EQ(record.layer, TruthLayer::kRnic);
  EXPECT_EQ(record.component, (ComponentRef{RefKind::kRnic, kOn.index()}));
  EXPECT_EQ(record.loss_ratio, 0.0);
  EXPECT_NEAR(record.latency_factor, 8.5, 1.5);
  EXPECT_EQ(record.affected, brute_force(bench.small));
  // Only pairs whose flows were in use: the three, and their other directions.
  EXPECT_GE(record.affected.size(), 6u);
  EXPECT_LT(record.affected.size(), 12u);
}

TEST(GroundTruth, CallsAFaultVisibleFromOnePercentLoss) {
  for (const auto& [ratio, visible] : {std::pair{0.0099, false}, {0.0101, true}}) {
    SCOPED_TRACE(ratio);
    TruthBench bench({fault(loss(CableId(3), ratio, EffectDirection::kUp))});
    bench.small.run_until(at_s(30));
    const TruthRecord record = bench.only();
    EXPECT_EQ(record.visible, visible);
    EXPECT_EQ(record.affected.empty(), !visible);
    EXPECT_EQ(record.time_zero, at_s(20));  // A difference it is, all the same.
    EXPECT_NEAR(record.loss_ratio, ratio, 1e-6);
  }
}

// The shortest round trip over RNIC 3, below one ToR, takes 12 us.  A delay counts twice.
TEST(GroundTruth, CallsAFaultVisibleFromAFactorOfOneAndAQuarter) {
  for (const auto& [extra_ns, visible] : {std::pair{1'490, false}, {1'510, true}}) {
    SCOPED_TRACE(extra_ns);
    TruthBench bench({fault(delay(CableId(3), Duration(extra_ns)))});
    bench.small.run_until(at_s(30));
    const TruthRecord record = bench.only();
    EXPECT_EQ(record.visible, visible);
    EXPECT_EQ(record.time_zero, at_s(20));
    EXPECT_NEAR(record.latency_factor, 1.0 + 2.0 * extra_ns / 12'000.0, 1e-9);
  }
}

// Of four uplinks two are left: who was on the others goes another way, and is no later for it.
TEST(GroundTruth, TellsOfPathsThatMovedWithoutCallingItVisible) {
  WorldOptions options = small_world_options();
  options.fabric.aggregation_switches = 4;
  const SwitchId tor = Fabric(options.fabric).tor_of(kOn);
  TruthBench bench({fault(of_switch(EffectKind::kHashChange, tor))}, {}, options);
  std::vector<RnicPair> moved;
  SmallWorld twin(options);
  bench.small.run_until(at_s(21));
  for (const auto& [source, target] : twin.pairs()) {
    const ProbePath is = resolve_path(bench.small.world, bench.small.spec(source, target));
    const ProbePath was = resolve_path(twin.world, twin.spec(source, target));
    if (!std::ranges::equal(is.request.span(), was.request.span()) ||
        !std::ranges::equal(is.answer.span(), was.answer.span())) {
      moved.emplace_back(source, target);
    }
  }
  bench.small.run_until(at_s(30));
  const TruthRecord record = bench.only();
  EXPECT_EQ(record.time_zero, at_s(20));
  EXPECT_FALSE(record.visible);
  EXPECT_FALSE(moved.empty());
  EXPECT_EQ(record.affected, moved);
}

TEST(GroundTruth, NamesTheRuleByBridgeTableAndEndpoint) {
  struct Case {
    RuleRole role;
    std::optional<RnicId> peer;
    RuleKey key;
  };
  for (const Case& c :
       {Case{RuleRole::kClassify, {}, {HostId(1), RuleTable::kClassify, kOn}},
        Case{RuleRole::kDeliver, {}, {HostId(1), RuleTable::kDeliver, kOn}},
        Case{RuleRole::kEncap, RnicId(5), {HostId(1), RuleTable::kEncap, RnicId(5)}}}) {
    TruthBench bench({fault(rule(EffectKind::kRuleRemove, c.role, c.peer))});
    bench.small.run_until(at_s(21));
    ASSERT_TRUE(bench.only().rule.has_value());
    EXPECT_EQ(*bench.only().rule, c.key);
  }
}

// Bug: a dead agent had no time zero and no affected pairs, since the paths themselves are healthy.
TEST(GroundTruth, KnowsThatADeadAgentAnswersNothing) {
  for (const EffectSpec& effect :
       {on_process(RefKind::kAgent, HostId(1)), on_rnic(EffectKind::kContainerCrash, kOn)}) {
    SCOPED_TRACE(effect_name(effect.kind));
    TruthBench bench({fault(effect, 20, 10)});
    bench.small.run_until(at_s(40));
    const TruthRecord record = bench.only();
    EXPECT_EQ(record.layer, TruthLayer::kAgent);
    EXPECT_EQ(record.component, (ComponentRef{RefKind::kAgent, 1}));
    EXPECT_EQ(record.time_zero, at_s(20));
    EXPECT_EQ(record.ended, at_s(30));
    std::vector<RnicPair> expected;
    for (const auto& [source, target] : bench.small.pairs()) {
      if (bench.small.world.fabric().host_of(target) == HostId(1)) {
        expected.emplace_back(source, target);
      }
    }
    EXPECT_EQ(record.affected, expected);
    // Silence is the same; somebody else has to tell the two apart.
    EXPECT_EQ(record.told_by.empty(), effect.kind == EffectKind::kProcessStop);
  }
}

TEST(GroundTruth, CallsInvisibleWhatOnlyAHostOrNobodyCanTell) {
  EffectSpec board;
  board.kind = EffectKind::kBoardError;
  board.on = {RefKind::kHost, 1};
  for (const EffectSpec& effect :
       {board, on_rnic(EffectKind::kGpuDirectOff, kOn), on_rnic(EffectKind::kRdmaBypass, kOn)}) {
    SCOPED_TRACE(effect_name(effect.kind));
    TruthBench bench({fault(effect)});
    bench.small.run_until(at_s(60));
    const TruthRecord record = bench.only();
    EXPECT_EQ(record.layer, TruthLayer::kHost);
    EXPECT_EQ(record.component, effect.on);
    EXPECT_FALSE(record.visible);
    EXPECT_FALSE(record.time_zero.has_value());
  }
}

TEST(GroundTruth, HasNoRecordOfConfounders) {
  const ConfounderOptions confounders{.agent_crashes = 10, .congestion_per_minute = 30.0};
  TruthBench only_confounders({}, confounders);
  only_confounders.small.run_until(at_s(120));
  EXPECT_THAT(only_confounders.truth.records(), SizeIs(0));
  EXPECT_EQ(only_confounders.truth.revision(), 0u);

  const FaultSpec spec = fault(loss(CableId(3), 0.02, EffectDirection::kBoth));
  TruthBench quiet({spec});
  TruthBench loud({spec}, confounders);
  quiet.small.run_until(at_s(120));
  loud.small.run_until(at_s(120));
  EXPECT_EQ(loud.only().affected, quiet.only().affected);
  EXPECT_EQ(loud.only().time_zero, quiet.only().time_zero);
  EXPECT_EQ(loud.only().loss_ratio, quiet.only().loss_ratio);
  EXPECT_EQ(loud.only().latency_factor, quiet.only().latency_factor);
}

TEST(GroundTruth, GrowsItsRevisionWithEveryChangeAndOnlyThen) {
  TruthBench bench({fault(loss(CableId(3), 0.02, EffectDirection::kBoth), 20, 10)});
  bench.small.run_until(at_s(19));
  EXPECT_EQ(bench.truth.revision(), 0u);
  bench.small.run_until(at_s(20));
  const std::uint64_t begun = bench.truth.revision();
  EXPECT_GE(begun, 2u);  // It began, and it was seen.
  bench.small.run_until(at_s(29));
  EXPECT_EQ(bench.truth.revision(), begun);
  bench.small.run_until(at_s(31));
  EXPECT_GT(bench.truth.revision(), begun);
  const std::uint64_t ended = bench.truth.revision();
  bench.small.run_until(at_s(600));
  EXPECT_EQ(bench.truth.revision(), ended);
}

TEST(GroundTruth, ListsFaultsInTheOrderOfTheirBeginning) {
  TruthBench bench({fault(on_cable(EffectKind::kPortDown, CableId(3)), 30),
                    fault(on_cable(EffectKind::kPortDown, CableId(6)), 10)});
  bench.small.run_until(at_s(20));
  ASSERT_THAT(bench.truth.records(), SizeIs(1));
  bench.small.run_until(at_s(40));
  const auto records = bench.truth.records();
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].id, 1u);
  EXPECT_EQ(records[1].id, 0u);
}

}  // namespace
}  // namespace bonescan::test
