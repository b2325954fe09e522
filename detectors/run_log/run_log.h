// run.sqlite: everything a run leaves behind, written so that a killed run is a valid shorter run.
//
// Rows are buffered and committed by flush(), which the driver calls as windows close; between two
// flushes nothing is visible, so a reader always sees whole windows.  Probe records are stored as
// one blob of columns per window.  The schema is documented in run_log/SCHEMA.md.
// Invariants: 1. after flush(t) everything observed before t is on disk; 2. a reader never needs
// the writer's process; 3. ids in the file are the ids of the run.
#pragma once

#include "detectors/records/incident.h"
#include "detectors/records/updates.h"
#include "detectors/run_log/rows.h"
#include "detectors/telemetry/telemetry.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bonescan {

class RunLogWriter final {
 public:
  /// Creates `path` (must not exist) with its schema, the run's description and the endpoints that
  /// are there at its start.
  /// @errors kIo with the path and the reason
  static Expected<std::unique_ptr<RunLogWriter>> create(const std::string& path,
                                                        const RunInfo& info,
                                                        const EndpointDirectory& endpoints);
  ~RunLogWriter();
  RunLogWriter(const RunLogWriter&) = delete;
  RunLogWriter& operator=(const RunLogWriter&) = delete;

  /// What the driver handed to the pipeline at `now`, in the same order.
  void observed(Time now, const ProbeBatch& batch);
  void membership(Time now, std::span<const MembershipEvent> events);
  /// Stores those that are new in the whole directory.  REQUIRES: called before a flush() that
  /// commits an event about them.
  void endpoints(const EndpointDirectory& directory);
  void throughput(std::span<const ThroughputSample> samples);
  /// `incidents` and `pairs` are the pipeline's whole tables: the rows that `updates` names, and
  /// the pairs that are new, are stored. REQUIRES: called before a flush() that commits visits of
  /// new pairs.
  void updates(const PipelineUpdates& updates,
               std::span<const Incident> incidents,
               const PairTable& pairs);
  /// Replaces the row with the same id.
  void truth(const TruthRow& row);

  /// Commits all of the above, with the names that the ids refer to.  After an error nothing more
  /// is stored: what is on disk stays a whole number of flushes.
  Expected<void> flush(Time reached, const ComponentTable& components);
  Expected<void> finish(const RunResult& result, const ComponentTable& components);

  /// Telemetry that passes every call through to `inner` and records each answer of the on-demand
  /// sources (path tracer, overlay inspector, flow tables, agent state) for replay.
  Telemetry recording(const Telemetry& inner);

 private:
  class Impl;
  explicit RunLogWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// One batch as it was handed to the pipeline, and when.
struct ObservedRound {
  Time now;
  ProbeBatch batch;
};

class RunLogReader final {
 public:
  /// @errors kIo (cannot be opened), kInvalid (not a run log, or of another schema version)
  static Expected<std::unique_ptr<RunLogReader>> open(const std::string& path);
  ~RunLogReader();
  RunLogReader(const RunLogReader&) = delete;
  RunLogReader& operator=(const RunLogReader&) = delete;

  const RunInfo& info() const;
  /// Decodes everything once: the accessors below have no other way to tell that a row is damaged,
  /// they leave it out.  Takes about a second per gigabyte.
  /// @errors kInvalid, kIo
  Expected<void> verify() const;

  /// For a killed run: `complete` false, and sums over what is stored.
  RunResult result() const;
  /// All that the run ever had: those of the start, and those that were submitted later.
  EndpointDirectory endpoints() const;
  ComponentTable components() const;
  PairTable pairs() const;
  std::vector<WindowRecord> windows() const;
  /// What changed ping lists, in order.
  std::vector<SkeletonRecord> skeletons() const;
  std::vector<Verdict> verdicts() const;
  std::vector<Incident> incidents() const;
  std::vector<TruthRow> truth() const;
  std::vector<MembershipEvent> membership() const;
  std::vector<ThroughputSample> throughput() const;

  /// Calls `visit` for every round of probes, in order, holding one window in memory at a time.
  Expected<void> for_each_round(const std::function<void(const ObservedRound&)>& visit) const;

 private:
  class Impl;
  explicit RunLogReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bonescan
