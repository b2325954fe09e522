// The production pipeline: membership and probes in, incidents out.
//
// It owns no clock, thread or socket.  A driver (simulator, replay, agent) repeats, once per visit
// period:
//
//   pipeline.membership(events);           // who came and went
//   pipeline.throughput(samples);          // what the RNICs of the tasks send
//   pipeline.plan(now, requests);          // which pairs to visit in [now, now + visit)
//   ... the backend carries them out ...
//   pipeline.observe(later, batch);        // whole visits, complete
//   pipeline.poll(later);                  // closes windows, localizes, opens and closes
//                                          // incidents, changes ping lists (kSkeleton)
//
// Tasks come and go (telemetry.h): kSubmitted appends endpoints and pairs.  When the last endpoint
// of a task is gone its lists go at once, and all that is known about its pairs as soon as no visit
// of them can be evidence any more (a pool window or two windows later).  Its incidents get no
// more symptoms from then on and close by their silence like all others; they keep their pairs and
// evidence.
// Invariants: 1. the same calls give the same incidents, whoever makes them; 2. nothing here can
// reach the truth about faults; 3. a stage that could not answer is named in the evidence;
// 4. forgetting a task changes nothing for the others.
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

/// What the pipeline holds.  Of an ended task stays: its ends by pair (8 bytes), a stage by
/// endpoint (1 byte), and an empty page of every column by 64 ids (16 bytes each).
struct PipelineMemory {
  std::size_t tasks = 0;       ///< that have not ended
  std::size_t sources = 0;     ///< that a plan costs a step
  std::size_t endpoints = 0;   ///< ever
  std::size_t pairs = 0;       ///< ever
  std::size_t held_bytes = 0;  ///< of columns by pair and endpoint: go when tasks end
  std::size_t kept_bytes = 0;  ///< of columns by pair and endpoint: stay
};

class Pipeline final {
 public:
  Pipeline(const PipelineOptions& options, Telemetry telemetry);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Every pair the run has probed or may probe.
  const PairTable& pairs() const;
  /// Is the pair in a ping list now?
  bool lists(Pair pair) const;
  const std::vector<Incident>& incidents() const;
  SkeletonSummary skeleton() const;
  PipelineMemory memory() const;

  /// REQUIRES: no more endpoints are submitted than the directory holds.
  void membership(std::span<const MembershipEvent> events);
  /// Samples as they come in; only the traffic skeleton reads them.
  void throughput(std::span<const ThroughputSample> samples);
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
