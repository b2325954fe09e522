// From the simulator's truth to the rows that the evaluator reads.
//
// Two things are added that depend on the probes that were sent: the equivalence class of the
// broken component (links that every probed path crosses together or not at all) and the
// information bound (the delay of the best test that knows the fault, at these probes).
#pragma once

#include "detectors/pipeline/pipeline.h"
#include "detectors/run_log/rows.h"
#include "faults/ground_truth.h"
#include "model/backend_sim/endpoint_map.h"
#include "scenarios/schema/scenario.h"

#include <vector>

namespace bonescan {

/// For each cable a hash of the set of pairs whose probes cross it: equal hashes, equal sets.
using CrossingSignatures = IdVector<CableId, std::uint64_t>;

/// Adds the pairs from index `first` on.
void add_crossings(const World& world,
                   const EndpointMap& endpoints,
                   const PairTable& pairs,
                   std::size_t first,
                   std::uint64_t seed,
                   CrossingSignatures& signatures);

/// What a run's truth is read from.
struct TruthSources {
  const std::vector<FaultSpec>& faults;  ///< of the run, by TruthRecord::id
  const World& world;
  const EndpointMap& endpoints;
  const Pipeline& pipeline;
  const Scenario& scenario;
  const CrossingSignatures& signatures;
};

std::vector<TruthRow> make_truth_rows(const std::vector<TruthRecord>& records,
                                      const TruthSources& of);

/// Mean delay of a sequential test that knows the loss ratio and the affected paths.
///   delay = max(1, ln(1 / alpha) / KL(q || p0)) / rate
/// with KL the Kullback-Leibler divergence of Bernoulli(q) from Bernoulli(p0).
/// @units probes per second in, seconds out; alpha per decision
/// @paper Wald 1945, sequential probability ratio test with a negligible miss probability
double information_bound_s(double loss_ratio, double base_ratio, double probes_per_s, double alpha);

}  // namespace bonescan
