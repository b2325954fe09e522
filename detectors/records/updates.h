// What the pipeline has to tell since it was last asked, as plain values.
#pragma once

#include "detectors/records/verdict.h"
#include "detectors/telemetry/endpoint.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

/// One closed window of the whole run.
struct WindowRecord {
  Time from;
  Time to;
  std::uint64_t probes = 0;
  std::uint64_t lost = 0;
  std::uint64_t local_errors = 0;
  std::uint32_t pairs_evaluated = 0;
  std::uint32_t pairs_insufficient = 0;  ///< visited, but without enough history
  std::uint32_t pairs_anomalous = 0;
};

/// A task's ping lists changed, or a look at its traffic changed nothing: which, and why.
struct SkeletonRecord {
  Time at;
  std::string task;
  std::string scope;  ///< "mesh", "same-rail", "adjacent-groups", "peers"
  std::string basis;  ///< "preload", "throughput", "flow-table"
  double confidence = 0.0;
  std::uint32_t members = 0;
  std::uint32_t stages = 0;          ///< 0: not known
  std::uint64_t pairs = 0;           ///< directed, in the lists of the task from now on
  std::uint64_t pairs_repaired = 0;  ///< of them, added so that links can be told apart
  std::string why;
  std::vector<double> lags_s{};  ///< by stage: how much later than stage 0 it bursts
};

struct PipelineUpdates {
  std::vector<Verdict> verdicts;      ///< everything that is not healthy
  std::vector<WindowRecord> windows;  ///< closed windows
  std::vector<std::size_t>
      incidents;  ///< indices of incidents opened, refined or closed, ascending
  std::vector<SkeletonRecord> skeletons{};
};

/// Size of the probing task, for reports.
struct SkeletonSummary {
  std::uint32_t rnics = 0;
  std::uint64_t pairs_full_mesh = 0;  ///< directed
  std::uint64_t pairs_same_rail = 0;
  std::uint64_t pairs_probed = 0;
  double destinations_per_rnic_mean = 0.0;
  double sweep_s = 0.0;  ///< longest list times the visit period
};

}  // namespace bonescan
