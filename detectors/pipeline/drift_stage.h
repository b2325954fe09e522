// From levels that creep away to incidents: what drifts, and where.
//
// Intuition: a drift is proved pair by pair over hours (detectors/longterm), so here nothing waits
// for a second look; what is left to find out is whose fault it is.  Algorithm 1's order is kept:
// the vote over pairs that drift and pairs that do not, then the tables, then the links that only
// this pair crosses.  Where a whole class of pairs drifts and no link explains it, that is one
// incident without a place, not hundreds.
// The paper's configuration has the published test at its three lags instead.  Either can be
// switched off (`detection.long_term.enabled`). Between two periods an incident lives as long as
// some window of its pairs stands where the drift has brought it. Internal to detectors/pipeline;
// thread-compatible.
#pragma once

#include "detectors/longterm/drift_detector.h"
#include "detectors/longterm/long_term_z.h"
#include "detectors/pipeline/pipeline_state.h"
#include "detectors/window/window_store.h"

#include <span>
#include <string>
#include <vector>

namespace bonescan {

class DriftStage final {
 public:
  explicit DriftStage(PipelineState& state);

  /// Pairs [0, pairs) exist.
  void resize(std::size_t pairs);

  void set_class(PairId pair, std::uint8_t pair_class);

  /// Visits as they come in; only the published test reads them.
  void observe(Time now, const ObservedVisit& visit);

  /// A window [from, to) that has just closed.
  void window_closed(Time now, Time from, Time to, const ClosedWindow& window);

  /// Between windows: goes on with table dumps that the allowance put off.
  void run(Time now);

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

  std::size_t held_size() const {
    return drift_.held_size() + published_.held_size() + evidence_.held_size();
  }

  std::size_t kept_size() const {
    return drift_.kept_size() + published_.kept_size() + evidence_.kept_size();
  }

 private:
  /// Pairs that drift together, or one alone; its tables are asked first.
  struct Suspicion {
    Verdict worst;
    Accusation accusation;  ///< without suspects: a pair alone
    std::vector<LinkVotes> raw;
    int asked = 0;  ///< times its tables were asked for without an answer
  };

  bool enabled() const;
  bool attribute(Time now, PairId pair);
  bool explains(const Incident& incident, PairId pair) const;
  void keep_alive(Time now, const ClosedWindow& window);
  void localize(Time now, const ClosedWindow& window);
  /// The drifting pairs of an accusation, worst first; REQUIRES: one of them is in verdicts_.
  const Verdict& worst_of(const Accusation& accusation) const;
  void open_link(Time now, const Suspicion& suspicion);
  void open_rnic(Time now, const Suspicion& suspicion, const TableFinding& tables);
  void open_alone(Time now, const Suspicion& suspicion, const TableFinding& tables);
  void open_class(Time now, std::span<const Verdict> members);
  void describe(Time now, IncidentIndex index, const Verdict& verdict);

  PipelineState* state_;
  UnderlayVote vote_;
  EvidenceTable evidence_;
  DriftDetector drift_;
  LongTermZ published_;
  std::vector<Verdict> verdicts_;  ///< of the last period, those not yet explained
  std::vector<PairId> high_;       ///< accused in the last period, ascending
  Time high_until_ = Time::min();
  std::vector<Suspicion> waiting_;
};

}  // namespace bonescan
