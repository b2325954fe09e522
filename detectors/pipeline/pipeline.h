// The production pipeline: membership and probes in, incidents out.
//
// It owns no clock, thread or socket.  A driver (simulator, replay, agent) repeats, once per visit
// period:
//
//   pipeline.plan(now, requests);          // which pairs to visit in [now, now + visit)
//   ... the backend carries them out ...
//   pipeline.observe(later, batch);        // whole visits, complete
//   pipeline.poll(later);                  // closes windows, localizes, opens and closes incidents
//
// Invariants: 1. the same calls give the same incidents, whoever makes them; 2. nothing here can
// reach the truth about faults; 3. a stage that could not answer is named in the evidence.
// Thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "detectors/records/incident.h"
#include "detectors/records/updates.h"
#include "detectors/telemetry/telemetry.h"

#include <memory>
#include <span>
#include <vector>

namespace bonescan {

class Pipeline final {
 public:
  Pipeline(const PipelineOptions& options, Telemetry telemetry);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Every pair the run has probed or may probe.
  const PairTable& pairs() const;
  const std::vector<Incident>& incidents() const;
  SkeletonSummary skeleton() const;

  void membership(std::span<const MembershipEvent> events);
  void plan(Time now, std::vector<ProbeRequest>& requests);
  void observe(Time now, const ProbeBatch& batch);
  void poll(Time now);
  /// Closes the last window and every incident's bookkeeping; call once, at the end.
  void finish(Time now);

  PipelineUpdates take_updates();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan
