// Runs with faults of any kind drawn at random, among all confounders: one record, however made.
#include "sim/base/fingerprint.h"
#include "tests/support/random_effects.h"
#include "tests/support/simulated_run.h"

#include <string>
#include <vector>

namespace bonescan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Dice;
using test::ProbeRecords;

constexpr std::size_t kFaults = 10;

/// The busy scenario with other faults: each one or two effects, some at once, some for ever.
Scenario random_scenario(std::uint64_t seed) {
  Scenario scenario =
      test::busy_scenario({"seed=" + std::to_string(seed), "jobs[0].start.ready_spread=10s"});
  scenario.duration = seconds(110);
  const Fabric fabric(scenario.fabric);
  const std::vector<EffectKind> kinds = test::all_effect_kinds();
  Dice dice(seed, 4);
  scenario.faults.clear();
  for (std::size_t f = 0; f < kFaults; ++f) {
    FaultSpec fault;
    fault.name = "fault " + std::to_string(f);
    fault.kind = "custom";
    fault.at = Time(dice.between(seconds(15), seconds(90)));
    fault.duration =
        dice.below(5) == 0 ? Duration::zero() : dice.between(milliseconds(5), seconds(30));
    for (std::uint32_t e = 0; e <= dice.below(2); ++e) {
      const EffectKind kind = kinds[dice.below(static_cast<std::uint32_t>(kinds.size()))];
      fault.effects.push_back(test::random_effect(kind, fabric, dice));
    }
    fault.on = fault.effects.front().on;
    scenario.faults.push_back(fault);
  }
  return scenario;
}

struct Outcome {
  ProbeRecords records;
  std::uint64_t incidents = 0;  ///< fingerprint
};

Outcome outcome_of(const Scenario& scenario, const SimulationOptions& options) {
  Simulation simulation(scenario, options);
  Pipeline pipeline(scenario.pipeline, simulation.backend().telemetry());
  Outcome outcome;
  outcome.records = test::run(simulation, scenario, pipeline);
  Fingerprint print;
  for (const Incident& incident : pipeline.incidents()) {
    print.add(static_cast<std::uint64_t>(nanoseconds(incident.opened)));
    print.add(std::string_view(incident.kind));
    for (const Candidate& candidate : incident.candidates) {
      print.add(simulation.backend().components()[candidate.component].name);
    }
    for (const PairId pair : incident.pairs) {
      print.add(std::uint64_t{pair.index()});
    }
  }
  outcome.incidents = print.value();
  return outcome;
}

TEST(RandomFaults, EveryWayOfEvaluatingGivesTheSameRun) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    const Scenario scenario = random_scenario(seed);
    const Outcome batched = outcome_of(scenario, {});
    ASSERT_GT(batched.records.rtt_ns.size(), 10'000u);
    const Outcome single = outcome_of(scenario, {.evaluation = ProbeEvaluation::kEventPerProbe});
    ASSERT_TRUE(batched.records == single.records)
        << test::first_difference(batched.records, single.records);
    EXPECT_EQ(batched.incidents, single.incidents);
    for (const unsigned threads : {2u, 3u}) {
      const Outcome many = outcome_of(scenario, {.threads = threads});
      ASSERT_TRUE(batched.records == many.records)
          << threads << " threads: " << test::first_difference(batched.records, many.records);
      EXPECT_EQ(batched.incidents, many.incidents);
    }
  }
}

TEST(RandomFaults, AnotherSeedIsAnotherRun) {
  EXPECT_NE(outcome_of(random_scenario(1), {}).incidents,
            outcome_of(random_scenario(2), {}).incidents);
}

}  // namespace
}  // namespace bonescan
