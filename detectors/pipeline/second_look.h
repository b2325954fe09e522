// Visits that lost something are tried again at once: a fault shows itself, an accident does not.
//
// Intuition: loss of 1.6 % spoils one visit in seven, and a link that few pairs cross waits seconds
// for each visit.  After the first lossy one the question is no longer "where could something be
// wrong?" but "was that an accident?", and visits of that pair and of others that cross the same
// links answer it several times as fast as the list would.  The tests of ComponentEvidence are
// sequential: their false alarms are counted a visit, whoever chose it, as long as the choice rests
// on what was seen before.  So a look changes how soon they know, not how often they err.
//
// A look ends when the suspicion has worn off, when an incident explains the loss, or after
// kVisits.  Looks share the follow-up budget with FollowUpStage, which comes first.
// Invariants: 1. no more probes a period than the budget; 2. what is asked follows from what was
// observed, so a replay asks the same; 3. a second look reaches the log and the tests of loss, and
// never windows or levels.  Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/localize/follow_up.h"
#include "detectors/loss/component_evidence.h"
#include "detectors/pipeline/pipeline_state.h"

#include <cstddef>
#include <vector>

namespace bonescan {

class SecondLook final {
 public:
  explicit SecondLook(const PipelineState& state) : state_(&state) {}

  /// The pair lost something that nothing explains.
  void suspect(PairId pair, const ComponentEvidence& tests);

  /// An incident explains what the pair lost.
  void explained(PairId pair);

  /// Appends visits of the period that begins now.  `sent`: extra visits of it so far.
  void plan(Time now,
            const ComponentEvidence& tests,
            std::size_t probes,
            std::size_t sent,
            std::vector<ProbeRequest>& requests);

  /// Is it a visit of a second look?
  bool took(const Visit& visit) const;

  void release(PairRange pairs);

 private:
  struct Look {
    PairId pair;
    std::vector<PairId> company;  ///< that cross what it crosses, the most suspicious first
    std::size_t visits = 0;       ///< so far
    std::size_t next = 0;         ///< of the company
    double nats = 0.0;
  };

  static PairId next_of(Look& look);
  /// The planned probe of the pair, made larger.
  FollowUp again(PairId pair) const;
  double suspicion(PairId pair, const ComponentEvidence& tests) const;
  std::vector<PairId> company_of(PairId pair, const ComponentEvidence& tests);

  const PipelineState* state_;
  std::vector<Look> looks_;      ///< by falling suspicion when planned last
  std::vector<double> weights_;  ///< scratch: by directed link, all 0
};

}  // namespace bonescan
