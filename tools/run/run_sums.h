// What a run amounts to: its sums and its fingerprint, taken while it goes.
//
// A recorded run and one that is only judged add the same things in the same order, so their
// fingerprints are comparable.  Thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline.h"
#include "detectors/run_log/rows.h"
#include "detectors/telemetry/component.h"
#include "sim/base/fingerprint.h"

#include <vector>

namespace bonescan {

class RunSums final {
 public:
  void observed(const ProbeBatch& batch);
  void verdicts(const PipelineUpdates& updates);

  /// Incidents and truth come last.  REQUIRES: nothing is added afterwards.
  RunResult finish(const Pipeline& pipeline,
                   const ComponentTable& components,
                   const std::vector<TruthRow>& truth,
                   Time reached,
                   double wall_s);

  /// So far.
  const RunResult& result() const { return result_; }

 private:
  Fingerprint fingerprint_;
  RunResult result_;
};

}  // namespace bonescan
