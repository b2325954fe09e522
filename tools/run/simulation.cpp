#include "tools/run/simulation.h"

#include "detectors/schedule/probe_scheduler.h"
#include "faults/confounder_plan.h"
#include "faults/processes/failure_plan.h"
#include "scenarios/schema/schema_key.h"
#include "sim/base/check.h"

namespace bonescan {
namespace {

WorldOptions world_options(const Scenario& scenario) {
  return {.fabric = scenario.fabric,
          .overlay = scenario.overlay,
          .latency = scenario.latency,
          .jobs = confounded_jobs(scenario.confounders,
                                  scenario.jobs,
                                  scenario.fabric.rails,
                                  scenario.seed,
                                  scenario.duration),
          .late_starts = {.share = scenario.confounders.late_start_share,
                          .delay = scenario.confounders.late_start_delay},
          .cloud = scenario.cloud,
          .clocks = scenario.clocks,
          .load = scenario.load,
          .seed = scenario.seed};
}

/// What the scenario lists, then what arises in this world.
std::vector<FaultSpec> all_faults(const Scenario& scenario, const World& world) {
  std::vector<FaultSpec> faults = scenario.faults;
  if (scenario.failures.active()) {
    auto drawn =
        plan_failures(scenario.failures, FaultSite(world), scenario.seed, scenario.duration);
    if (!drawn) {
      throw ConfigError("failures: " + drawn.error().detail);
    }
    faults.insert(faults.end(), drawn->begin(), drawn->end());
  }
  return faults;
}

FlowCounting flow_counting(SkeletonEvidence evidence) {
  return evidence == SkeletonEvidence::kOracle ? FlowCounting::kOracle : FlowCounting::kTables;
}

}  // namespace

Simulation::Simulation(const Scenario& scenario, const SimulationOptions& options)
    : scenario_(scenario),
      world_(world_options(scenario), engine_),
      injector_(world_),
      faults_(options.without_faults ? std::vector<FaultSpec>{} : all_faults(scenario, world_)),
      truth_(world_,
             faults_,
             {.call = &Simulation::port_of, .subject = this},
             scenario.pipeline.probing.payload_bytes,
             scenario.pipeline.probing.dscp),
      backend_(world_,
               {.evaluation = options.evaluation,
                .threads = options.threads,
                .packets = options.packets,
                .channel = scenario.telemetry,
                .flow_counting = flow_counting(scenario.pipeline.skeleton.evidence)}) {
  injector_.observe(&GroundTruth::on_fault, &truth_);
  // The loader has resolved every component, so a refusal is a bug.
  BONESCAN_CHECK(injector_.schedule(faults_).has_value());
  injector_.schedule(scenario.confounders, scenario.duration);
}

std::uint16_t Simulation::port_of(const void* self, RnicId source, RnicId target) {
  const auto& simulation = *static_cast<const Simulation*>(self);
  const auto from = simulation.backend_.endpoints().endpoint(source);
  const auto to = simulation.backend_.endpoints().endpoint(target);
  return from && to ? probe_source_port(simulation.scenario_.pipeline.seed, {*from, *to})
                    : std::uint16_t{0};
}

std::vector<TruthRow> Simulation::truth_rows(const Pipeline& pipeline) const {
  BONESCAN_CHECK(signatures_.size() == world_.fabric().cable_count());
  return make_truth_rows(truth_.records(),
                         {.faults = faults_,
                          .world = world_,
                          .endpoints = backend_.endpoints(),
                          .pipeline = pipeline,
                          .scenario = scenario_,
                          .signatures = signatures_});
}

}  // namespace bonescan
