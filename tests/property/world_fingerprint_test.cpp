// Whatever was done to a world and taken back, in whatever order: it is its untouched twin again.
#include "model/world_fingerprint.h"

#include "tests/support/fabrics.h"
#include "tests/support/random_effects.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Dice;

/// Convergence of routes, a sweep, a refresh.
constexpr Duration kSettling = seconds(3);

/// A world with a job on all hosts, which has run for a minute; and its twin.
class Bench {
 public:
  explicit Bench(const FabricOptions& fabric, std::uint64_t seed)
      : world_(options(fabric, seed), engine_) {
    const std::uint32_t count = world_.fabric().rnic_count();
    for (std::uint32_t a = 0; a < count; ++a) {
      for (std::uint32_t b = a + 1; b < count; ++b) {
        world_.flows().find_or_add(RnicId(a), RnicId(b), world_.jobs());
      }
    }
    run_until(Time(seconds(60)));
  }

  World& world() { return world_; }

  void run_until(Time at) { engine_.run_until(at); }

  Time now() const { return engine_.now(); }

  WorldFingerprint print() const { return world_fingerprint(world_, engine_.now()); }

 private:
  static WorldOptions options(const FabricOptions& fabric, std::uint64_t seed) {
    WorldOptions options;
    options.fabric = fabric;
    options.seed = seed;
    // Frozen counters must not outlast it: an entry that aged out does not come back.
    options.overlay.max_idle = seconds(60);
    const std::uint32_t hosts = fabric.segments * fabric.hosts_per_segment;
    options.jobs = {{.gpus = hosts * fabric.rails,
                     .tp = fabric.rails,
                     .dp = hosts,
                     .ready_spread = seconds(10)}};
    return options;
  }

  Engine engine_;
  World world_;
};

/// effect.h: an eswitch entry comes back only when its flow is installed again, whether it was
/// removed, had no room, or went with the flow; and counters go on from where they were put.
bool takes_entries(EffectKind kind) {
  return kind == EffectKind::kOffloadRemove || kind == EffectKind::kEswitchCapacity ||
         kind == EffectKind::kOffloadRefuse || kind == EffectKind::kOffloadChurn ||
         kind == EffectKind::kFlowLimit || kind == EffectKind::kCountersSet ||
         kind == EffectKind::kFlowEdit;
}

/// Acts on entries that are there; of most pairs there are none.
bool may_act_on_nothing(EffectKind kind) {
  return kind == EffectKind::kOffloadRemove || kind == EffectKind::kCountersSet ||
         kind == EffectKind::kFlowEdit || kind == EffectKind::kOffloadChurn ||
         kind == EffectKind::kContainerCrash;
}

WorldFingerprint without_flows(WorldFingerprint print) {
  print.flows = 0;
  return print;
}

std::string describe(const WorldFingerprint& print, const WorldFingerprint& twin) {
  std::string differences;
  const auto note = [&](const char* name, bool differs) {
    differences += differs ? std::string(" ") + name : std::string();
  };
  note("links", print.links != twin.links);
  note("routing", print.routing != twin.routing);
  note("rules", print.rules != twin.rules);
  note("tunnels", print.tunnels != twin.tunnels);
  note("eswitches", print.eswitches != twin.eswitches);
  note("queues", print.queues != twin.queues);
  note("containers", print.containers != twin.containers);
  note("processes", print.processes != twin.processes);
  note("devices", print.devices != twin.devices);
  note("flows", print.flows != twin.flows);
  return differences.empty() ? "nothing differs" : "differs in" + differences;
}

/// Also the proof that the print sees every kind: whoever adds one extends it.
TEST(WorldFingerprint, SeesEveryEffectAndItsEnd) {
  for (const auto& [name, fabric] : test::small_fabrics()) {
    constexpr std::uint64_t kSeed = 5;
    Bench bench(fabric, kSeed);
    Bench twin(fabric, kSeed);
    Dice dice(kSeed, 1);
    bool entries_lost = false;
    ASSERT_EQ(bench.print(), twin.print());
    for (const EffectKind kind : test::all_effect_kinds()) {
      int rounds_seen = 0;
      for (int round = 0; round < 4; ++round) {
        SCOPED_TRACE(name + " " + std::string(effect_name(kind)) + " seed=5 round " +
                     std::to_string(round));
        const EffectSpec spec = test::random_effect(kind, bench.world().fabric(), dice);
        const auto effect = make_effect(spec);
        ASSERT_TRUE(effect.has_value()) << "no component of a known kind fits";
        entries_lost = entries_lost || takes_entries(kind);
        const WorldFingerprint before = bench.print();
        (*effect)->apply(bench.world());
        const bool seen = bench.print() != before;
        EXPECT_TRUE(seen || may_act_on_nothing(kind)) << "not in the print";
        rounds_seen += seen ? 1 : 0;
        bench.run_until(bench.now() + milliseconds(700));
        (*effect)->revert(bench.world());
        bench.run_until(bench.now() + kSettling);
        twin.run_until(bench.now());
        const WorldFingerprint is = bench.print();
        const WorldFingerprint should = twin.print();
        if (entries_lost) {
          ASSERT_EQ(without_flows(is), without_flows(should)) << describe(is, should);
        } else {
          ASSERT_EQ(is, should) << describe(is, should);
        }
      }
      // Counters are not in the print: they change nothing that a packet meets.
      EXPECT_TRUE(rounds_seen > 0 || kind == EffectKind::kFlowEdit ||
                  kind == EffectKind::kCountersSet)
          << name << " " << effect_name(kind);
    }
  }
}

struct Step {
  Time at;
  std::size_t effect = 0;
  bool begins = true;
};

/// A dozen effects that overlap in any order; some on the same component.
void run_schedule(Bench& bench, const std::vector<EffectKind>& kinds, Dice& dice) {
  constexpr std::size_t kEffects = 12;
  std::vector<std::unique_ptr<Effect>> effects;
  std::vector<Step> steps;
  const Fabric& fabric = bench.world().fabric();
  while (effects.size() < kEffects) {
    const EffectKind kind = kinds[dice.below(static_cast<std::uint32_t>(kinds.size()))];
    auto effect = make_effect(test::random_effect(kind, fabric, dice));
    ASSERT_TRUE(effect.has_value());
    effects.push_back(std::move(*effect));
    const Time begin = bench.now() + dice.between(milliseconds(1), seconds(4));
    const Time end = begin + dice.between(milliseconds(1), seconds(4));
    steps.push_back({begin, effects.size() - 1, true});
    steps.push_back({end, effects.size() - 1, false});
  }
  std::stable_sort(
      steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
  for (const Step& step : steps) {
    bench.run_until(step.at);
    if (step.begins) {
      effects[step.effect]->apply(bench.world());
    } else {
      effects[step.effect]->revert(bench.world());
    }
  }
  bench.run_until(bench.now() + kSettling);
}

TEST(WorldFingerprint, IsTheTwinsAfterAnyScheduleOfEffects) {
  std::vector<EffectKind> kinds = test::all_effect_kinds();
  std::erase_if(kinds, takes_entries);
  for (const auto& [name, fabric] : test::small_fabrics()) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(name + " seed=" + std::to_string(seed));
      Bench bench(fabric, seed);
      Bench twin(fabric, seed);
      Dice dice(seed, 2);
      for (int round = 0; round < 3; ++round) {
        run_schedule(bench, kinds, dice);
        twin.run_until(bench.now());
        const WorldFingerprint is = bench.print();
        const WorldFingerprint should = twin.print();
        ASSERT_EQ(is, should) << "round " << round << ": " << describe(is, should);
      }
    }
  }
}

TEST(WorldFingerprint, OnlyEntriesStayAwayAfterAScheduleThatRemovesThem) {
  const auto fabrics = test::small_fabrics();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    Bench bench(fabrics.front().options, seed);
    Bench twin(fabrics.front().options, seed);
    Dice dice(seed, 3);
    run_schedule(bench, test::all_effect_kinds(), dice);
    twin.run_until(bench.now());
    EXPECT_EQ(without_flows(bench.print()), without_flows(twin.print()));
  }
}

TEST(WorldFingerprint, AnotherSeedIsAnotherWorld) {
  const auto fabrics = test::small_fabrics();
  const Bench one(fabrics.front().options, 1);
  const Bench other(fabrics.front().options, 2);
  EXPECT_NE(one.print(), other.print());
  EXPECT_NE(one.print().value(), other.print().value());
}

}  // namespace
}  // namespace bonescan
