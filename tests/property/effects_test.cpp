// Every effect can be taken back: after revert() the world is, bit for bit, as if it had not been.
//
// offload.remove is the exception by design (effect.h): an eswitch entry comes back only with its
// flow.
#include "faults/effects/effect.h"
#include "model/probe_path.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Two segments of two hosts with a job; every pair has exchanged packets.
class SmallWorld {
 public:
  SmallWorld() : world_(options(), engine_) {
    pass(seconds(60));
    for (std::uint32_t a = 0; a < world_.fabric().rnic_count(); ++a) {
      for (std::uint32_t b = a + 1; b < world_.fabric().rnic_count(); ++b) {
        world_.flows().find_or_add(RnicId(a), RnicId(b), world_.jobs());
      }
    }
    pass(seconds(1));
  }

  World& world() { return world_; }

  void pass(Duration time) { engine_.run_until(engine_.now() + time); }

  /// What every directed pair would meet now, for two ports, two sizes and two classes.
  std::vector<std::pair<double, double>> conditions() const {
    std::vector<std::pair<double, double>> found;
    const std::uint32_t count = world_.fabric().rnic_count();
    for (std::uint32_t a = 0; a < count; ++a) {
      for (std::uint32_t b = 0; b < count; ++b) {
        if (a == b) {
          continue;
        }
        for (const std::uint16_t port : {std::uint16_t{50'000}, std::uint16_t{60'001}}) {
          for (const std::uint8_t dscp : {std::uint8_t{0}, std::uint8_t{26}}) {
            const ProbeSpec spec{.source = RnicId(a),
                                 .target = RnicId(b),
                                 .source_port = port,
                                 .bytes = dscp == 0 ? 64u : 1'024u,
                                 .dscp = dscp};
            const PathCondition condition = path_condition(world_, spec, engine_.now());
            found.emplace_back(condition.loss_ratio, condition.rtt_ns);
          }
        }
      }
    }
    return found;
  }

  /// Who runs, and whose clocks tick.
  std::vector<bool> processes() const {
    std::vector<bool> running;
    for (std::uint32_t h = 0; h < world_.fabric().host_count(); ++h) {
      running.push_back(world_.agent_running(HostId(h)));
      running.push_back(world_.vswitchd_running(HostId(h)));
    }
    for (std::uint32_t r = 0; r < world_.fabric().rnic_count(); ++r) {
      running.push_back(!world_.clocks(RnicId(r)).refreshes.stopped());
    }
    return running;
  }

 private:
  static WorldOptions options() {
    WorldOptions options;
    options.fabric = {.segments = 2, .hosts_per_segment = 2, .rails = 4, .aggregation_switches = 3};
    options.jobs = {{.gpus = 16, .tp = 4, .pp = 2, .dp = 2, .ready_spread = seconds(10)}};
    options.seed = 9;
    return options;
  }

  Engine engine_;
  World world_;
};

struct Case {
  std::string name;
  EffectSpec spec;
};

/// Every kind that can be reverted, on every kind of component that it can act on.
std::vector<Case> all_cases(const Fabric& fabric) {
  const ComponentRef rnic{RefKind::kRnic, 5};
  const ComponentRef access{RefKind::kCable, 5};
  const ComponentRef trunk{RefKind::kCable, fabric.fabric_cable(fabric.tor(1, 1), 2).index()};
  std::vector<Case> cases;
  const auto on = [](EffectKind kind, const ComponentRef& component) {
    EffectSpec spec;
    spec.kind = kind;
    spec.on = component;
    return spec;
  };
  for (const EffectDirection direction :
       {EffectDirection::kUp, EffectDirection::kDown, EffectDirection::kBoth}) {
    for (const ComponentRef& cable : {access, trunk}) {
      EffectSpec loss = on(EffectKind::kLinkLoss, cable);
      loss.direction = direction;
      loss.ratio = 0.3;
      cases.push_back({"loss", loss});
      loss.packets.min_bytes = 512;
      cases.push_back({"loss of large packets", loss});
      EffectSpec delay = on(EffectKind::kLinkDelay, cable);
      delay.direction = direction;
      delay.delay = microseconds(7);
      cases.push_back({"delay", delay});
      delay.packets.dscp = 26;
      cases.push_back({"delay of a class", delay});
    }
  }
  for (const ComponentRef& cable : {access, trunk, rnic}) {
    EffectSpec port = on(EffectKind::kPortDown, cable);
    cases.push_back({"port down", port});
    port.kind = EffectKind::kPortFlap;
    port.down = milliseconds(1'700);
    port.up = milliseconds(900);
    cases.push_back({"port flap", port});
  }
  for (const EffectKind kind : {EffectKind::kRuleRemove, EffectKind::kRuleAlter}) {
    for (const RuleRole role : {RuleRole::kClassify, RuleRole::kEncap, RuleRole::kDeliver}) {
      EffectSpec rule = on(kind, rnic);
      rule.rule = role;
      rule.peer = RnicId(13);
      cases.push_back({"rule", rule});
    }
  }
  for (const EffectKind kind : {EffectKind::kTunnelRoute,
                                EffectKind::kTunnelNeighbour,
                                EffectKind::kTunnelVni,
                                EffectKind::kTunnelMtu,
                                EffectKind::kTunnelChecksum,
                                EffectKind::kSpoofDrop}) {
    EffectSpec tunnel = on(kind, rnic);
    tunnel.peer = RnicId(13);
    tunnel.mtu = 600;
    cases.push_back({std::string(effect_name(kind)), tunnel});
  }
  cases.push_back({"GIDs registered again", on(EffectKind::kGidReregister, rnic)});
  for (const MissingGids missing : {MissingGids::kRoceV2, MissingGids::kIpv4}) {
    EffectSpec gids = on(EffectKind::kGidMissing, rnic);
    gids.missing = missing;
    cases.push_back({"GIDs missing", gids});
  }
  cases.push_back({"rule order", on(EffectKind::kRulePriority, rnic)});
  cases.push_back({"flow limit", on(EffectKind::kFlowLimit, {RefKind::kOvs, 2})});
  cases.push_back({"counters", on(EffectKind::kCountersFreeze, rnic)});
  cases.push_back({"agent", on(EffectKind::kProcessStop, {RefKind::kAgent, 2})});
  cases.push_back({"vswitchd", on(EffectKind::kProcessStop, {RefKind::kOvs, 2})});
  return cases;
}

std::unique_ptr<Effect> made(const EffectSpec& spec) {
  auto effect = make_effect(spec);
  EXPECT_TRUE(effect.has_value());
  return std::move(*effect);
}

/// Long enough for every effect to show, shorter than the eviction of a flow.
constexpr Duration kLength = seconds(5);
/// A sweep and the convergence of ECMP groups.
constexpr Duration kSettling = seconds(2);

TEST(Effects, RevertRestoresEveryPath) {
  SmallWorld small;
  const auto before = small.conditions();
  const auto running = small.processes();
  for (const Case& c : all_cases(small.world().fabric())) {
    SCOPED_TRACE(c.name);
    const auto effect = made(c.spec);
    for (int round = 0; round < 2; ++round) {
      effect->apply(small.world());
      bool shows = false;
      for (Duration passed{}; passed < kLength; passed += milliseconds(500)) {
        small.pass(milliseconds(500));
        shows = shows || small.conditions() != before || small.processes() != running;
      }
      EXPECT_TRUE(shows) << "an effect without any effect";
      effect->revert(small.world());
      small.pass(kSettling);
      ASSERT_EQ(small.conditions(), before) << "round " << round;
      ASSERT_EQ(small.processes(), running) << "round " << round;
    }
  }
}

/// Two effects at once, the first taken back first or last.
TEST(Effects, RevertRestoresInAnyOrder) {
  SmallWorld small;
  const auto before = small.conditions();
  const auto running = small.processes();
  const std::vector<Case> cases = all_cases(small.world().fabric());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t j = i % 3; j < cases.size(); j += 3) {
      SCOPED_TRACE(cases[i].name + " " + std::to_string(i) + " and " + cases[j].name + " " +
                   std::to_string(j));
      const auto first = made(cases[i].spec);
      const auto second = made(cases[j].spec);
      first->apply(small.world());
      small.pass(milliseconds(800));
      second->apply(small.world());
      small.pass(milliseconds(1'300));
      (i % 2 == 0 ? first : second)->revert(small.world());
      small.pass(milliseconds(300));
      (i % 2 == 0 ? second : first)->revert(small.world());
      small.pass(kSettling);
      ASSERT_EQ(small.conditions(), before);
      ASSERT_EQ(small.processes(), running);
    }
  }
}

/// Entries that were lost while packets kept coming stay lost: only the counters come back.
TEST(Effects, ThawedCountersDoNotBringEntriesBack) {
  SmallWorld small;
  const auto before = small.conditions();
  EffectSpec freeze;
  freeze.kind = EffectKind::kCountersFreeze;
  freeze.on = {RefKind::kRnic, 5};
  const auto effect = made(freeze);
  effect->apply(small.world());
  small.pass(seconds(20));
  effect->revert(small.world());
  small.pass(kSettling);
  EXPECT_NE(small.conditions(), before);
  EXPECT_FALSE(small.world().clocks(RnicId(5)).refreshes.stopped());
}

}  // namespace
}  // namespace bonescan
