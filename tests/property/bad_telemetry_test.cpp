// Bad telemetry and bad clocks hide no fault and make none, and change no other property.
#include "sim/base/fingerprint.h"
#include "tests/support/simulated_run.h"
#include "tests/support/temporary_directory.h"
#include "tools/run/run_session.h"

#include <algorithm>
#include <string>
#include <vector>

namespace bonescan {
namespace {

/// PTP within microseconds, three hosts in ten free-running, a step of up to 200 ms now and then.
std::vector<std::string> bad_surroundings(std::uint64_t seed) {
  return {"seed=" + std::to_string(seed),
          "confounders.file=../confounders/telemetry.yaml",
          "confounders.agent_crashes.count=0",
          "probing.lateness=2s",
          "clocks.offset=2us",
          "clocks.wander=1us",
          "clocks.drift_ppm=20",
          "clocks.holdover.share=30%",
          "clocks.steps.size=200ms",
          "clocks.steps.period=2min",
          "clocks.timestamps=rnic"};
}

struct Outcome {
  test::ProbeRecords records;
  std::vector<Incident> incidents;
  std::vector<std::string> names;  ///< of the candidates of each incident
  IntakeCounts counts;
};

Outcome outcome_of(const Scenario& scenario, const SimulationOptions& options = {}) {
  Simulation simulation(scenario, options);
  Pipeline pipeline(scenario.pipeline, simulation.backend().telemetry());
  Outcome outcome;
  RunLoopHooks hooks;
  hooks.observed = [&](Time now, const ProbeBatch& batch) {
    test::append(outcome.records, now, batch, pipeline, simulation.backend().endpoints());
  };
  hooks.intake = [&](Time, const TelemetryIntake& intake) {
    outcome.counts = intake.visits().total();
  };
  run_loop(pipeline,
           simulation.backend().telemetry(),
           scenario.pipeline.probing,
           kStartOfRun + scenario.duration,
           hooks);
  outcome.incidents = pipeline.incidents();
  for (const Incident& incident : outcome.incidents) {
    std::string text = incident.kind + ":";
    for (const Candidate& candidate : incident.candidates) {
      text += " " + simulation.backend().components()[candidate.component].name;
    }
    outcome.names.push_back(text);
  }
  return outcome;
}

std::string all_names(const Outcome& outcome) {
  std::string text;
  for (const std::string& name : outcome.names) {
    text += name + "\n";
  }
  return text;
}

TEST(BadTelemetry, OpensNoIncidentWhereAllIsWell) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    std::vector<std::string> settings = bad_surroundings(seed);
    settings.emplace_back("duration=30min");
    const Outcome outcome = outcome_of(test::smoke_scenario("healthy", settings));
    EXPECT_TRUE(outcome.incidents.empty()) << all_names(outcome);
    EXPECT_GT(outcome.counts.duplicates, 100u);
    EXPECT_GT(outcome.counts.missing, 100u);
    EXPECT_GE(outcome.counts.expected, outcome.counts.received + outcome.counts.missing);
    // Lost for good, or overtaken by two seconds and more.
    const auto expected = static_cast<double>(outcome.counts.expected);
    EXPECT_NEAR(static_cast<double>(outcome.counts.missing) / expected, 0.02, 0.012);
  }
}

TEST(BadTelemetry, StillFindsALinkFault) {
  for (const char* name : {"crc-error", "switch-port-down"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::string(name) + " seed=" + std::to_string(seed));
      const Scenario scenario = test::smoke_scenario(name, bad_surroundings(seed));
      const FaultSpec& fault = scenario.faults.front();
      const std::string link = component_name(Fabric(scenario.fabric), fault.on);
      const Outcome outcome = outcome_of(scenario);
      const auto found = std::ranges::find_if(outcome.names, [&](const std::string& candidates) {
        return candidates.find(link) != std::string::npos;
      });
      ASSERT_NE(found, outcome.names.end()) << link << " is not in\n" << all_names(outcome);
      const Incident& incident =
          outcome.incidents[static_cast<std::size_t>(found - outcome.names.begin())];
      EXPECT_GE(incident.opened, fault.at);
      EXPECT_LT(incident.opened - fault.at, std::chrono::seconds(60));
      EXPECT_EQ(outcome.incidents.size(), 1u) << all_names(outcome);
    }
  }
}

TEST(BadTelemetry, IsTheSameForEveryWayOfEvaluating) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    std::vector<std::string> settings = bad_surroundings(seed);
    settings.erase(std::ranges::find(settings, "confounders.file=../confounders/telemetry.yaml"));
    for (const char* more : {"confounders.telemetry.lost=5%",
                             "confounders.telemetry.late=10%",
                             "confounders.telemetry.duplicated=5%",
                             "confounders.telemetry.sampler.phase=1s",
                             "clocks.timestamps=host",
                             "confounders.agent_crashes.count=6"}) {
      settings.emplace_back(more);
    }
    Scenario scenario = test::busy_scenario(settings);
    scenario.duration = std::chrono::minutes(2);
    const Outcome batched = outcome_of(scenario);
    const Outcome single = outcome_of(scenario, {.evaluation = ProbeEvaluation::kEventPerProbe});
    const Outcome threads = outcome_of(scenario, {.threads = 3});
    ASSERT_TRUE(batched.records == single.records)
        << test::first_difference(batched.records, single.records);
    ASSERT_TRUE(batched.records == threads.records)
        << test::first_difference(batched.records, threads.records);
    EXPECT_EQ(batched.names, single.names);
    EXPECT_EQ(batched.names, threads.names);
  }
}

/// What is recorded is what came in, copies and all; so the same goes through the same intake.
TEST(BadTelemetry, ReplayFindsTheSameIncidents) {
  const Scenario scenario = test::smoke_scenario("crc-error", bad_surroundings(1));
  const fakes::TemporaryDirectory directory;
  RunSessionOptions options;
  options.command = "test";
  options.directory = directory.file("first");
  const RunData run = run_scenario(scenario, options);
  options.directory = directory.file("again");
  const RunData again = replay_run(directory.file("first/run.sqlite"), options);
  ASSERT_EQ(run.incidents.size(), 1u);
  ASSERT_EQ(again.incidents.size(), 1u);
  EXPECT_EQ(run.incidents[0].id, again.incidents[0].id);
  EXPECT_EQ(run.incidents[0].closed, again.incidents[0].closed);
  EXPECT_EQ(run.incidents[0].pairs, again.incidents[0].pairs);
  EXPECT_EQ(run.result.probes_sent, again.result.probes_sent);
}

/// With a bound on lateness and nothing late, the pipeline sees what it saw without.
TEST(BadTelemetry, ABoundAloneChangesNoIncident) {
  for (const char* name : {"crc-error", "missing-overlay-rule", "rnic-port-flapping"}) {
    SCOPED_TRACE(name);
    const Outcome without = outcome_of(test::smoke_scenario(name, {}));
    const Outcome bounded = outcome_of(test::smoke_scenario(name, {"probing.lateness=3s"}));
    EXPECT_EQ(without.names, bounded.names);
    EXPECT_TRUE(without.records == bounded.records);
  }
}

}  // namespace
}  // namespace bonescan
