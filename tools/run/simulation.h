// A scenario brought to life: engine, world, faults, truth, the simulated seam and the pipeline.
//
// The one place where both halves meet: the pipeline gets the telemetry, the evaluator gets the
// truth, and nothing connects the two.
#pragma once

#include "detectors/pipeline/pipeline.h"
#include "detectors/run_log/rows.h"
#include "faults/ground_truth.h"
#include "faults/injector.h"
#include "model/backend_sim/sim_backend.h"
#include "model/world.h"
#include "scenarios/schema/scenario.h"
#include "sim/engine/engine.h"
#include "tools/run/truth_rows.h"

#include <memory>
#include <optional>
#include <vector>

namespace bonescan {

struct SimulationOptions {
  ProbeEvaluation evaluation = ProbeEvaluation::kBatch;
  unsigned threads = 1;                        ///< never changes a result
  std::optional<PacketModeOptions> packets{};  ///< set: packet mode
  bool without_faults = false;                 ///< the fault-free twin: same seed, same confounders
};

class Simulation final {
 public:
  /// REQUIRES: `scenario` outlives the simulation.
  /// @throws ConfigError if a failure that should arise has no place in this world
  Simulation(const Scenario& scenario, const SimulationOptions& options);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  World& world() { return world_; }

  SimBackend& backend() { return backend_; }

  Engine& engine() { return engine_; }

  /// Those that the scenario lists, then those that arise.
  const std::vector<FaultSpec>& faults() const { return faults_; }

  /// Grows whenever truth_rows() would say something new.
  std::uint64_t truth_revision() const { return truth_.revision(); }

  /// Takes down which links the probes of these pairs cross; a later call those of the pairs that
  /// were appended since.  Call it first before anything is broken.
  void learn_paths(const PairTable& pairs) {
    add_crossings(
        world_, backend_.endpoints(), pairs, pairs_learnt_, scenario_.pipeline.seed, signatures_);
    pairs_learnt_ = pairs.size();
  }

  /// What is known of every fault that has begun, with scores' needs filled in.
  /// REQUIRES: learn_paths().
  std::vector<TruthRow> truth_rows(const Pipeline& pipeline) const;

 private:
  static std::uint16_t port_of(const void* self, RnicId source, RnicId target);

  const Scenario& scenario_;
  Engine engine_;
  World world_;
  Injector injector_;
  std::vector<FaultSpec> faults_;
  GroundTruth truth_;
  SimBackend backend_;
  CrossingSignatures signatures_;
  std::size_t pairs_learnt_ = 0;
};

}  // namespace bonescan
