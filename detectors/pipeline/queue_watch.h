// Queues that come back at one link, with every step of training.
//
// A link that has lost half of its lanes carries what it is offered, but for the bursts in which
// flows of several RNICs meet on it: then a queue stands for a second or two, until the next step.
// A visit rarely falls into one, and a pair is not late twice in a row, so neither pairs nor single
// moments tell.  The link does: again and again several of its pairs are late in the same moments,
// and never were before.  A single burst is congestion, and what comes back on many links at once
// is a job that works differently now; neither is reported.
//
// Terms: a visit is late if its upper quartile grew (kLeastUpper).  A moment
// (one visit period) is hot for a directed link if two pairs that cross it are late in it.  Hot
// moments with fewer than two others between them are one episode.
//
// Invariants: 1. nothing is said before the third episode, nor about a link whose pairs are new;
// 2. an RNIC's link is not judged: its tables and its slot look alike (TableWatch, host checks).
// Not in the paper's configuration.  Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/localize/fault_search.h"
#include "detectors/pipeline/evidence_table.h"
#include "detectors/pipeline/pipeline_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace bonescan {

class QueueWatch final {
 public:
  explicit QueueWatch(PipelineState& state);

  /// Visits are judged from then on: what was usual before is not known.
  void begin(Time start) { judging_since_ = std::min(judging_since_, start); }

  /// The upper quartile of a visit grew; `strongly`: more than queues usually make it.
  void late(PairId pair, Time start, bool strongly);

  /// A link at which a queue comes back.
  struct Found {
    Accusation accusation;
    std::vector<ComponentId> held_up;  ///< links that are late because they feed it
    std::size_t episodes = 0;
    Time since;  ///< the first of them
  };

  /// Once a turn.
  std::optional<Found> look(Time now);

  /// Does what waits on one link wait for the other to take it?  A port that is full pauses what
  /// feeds its switch, from whatever other link.
  bool feeds(const LinkScore& one, const LinkScore& other) const;

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

 private:
  struct LateVisit {
    PairId pair;
    Time start;
    bool strongly = false;
  };

  using Moment = std::int64_t;  ///< counts visit periods

  /// What one directed link was like lately.
  struct History {
    std::set<Moment> hot;  ///< of the episodes of now
    std::size_t episodes = 0;
    std::size_t weight = 0;  ///< of their late visits
    std::size_t before = 0;  ///< episodes of the time before these
  };

  Moment moment(Time start) const;
  /// Directed links over which two of the last `fresh` late visits went.
  std::vector<PathHop> hot_ways(std::size_t fresh) const;
  History history(Time now, const PathHop& way) const;
  /// Were both ends of these pairs there long enough to know what is usual?
  bool known_since(std::span<const PairId> pairs, Time since) const;
  std::optional<Found> accuse(const History& history);
  /// Of the links that make pairs late together, the one for which the others wait.
  std::optional<Found> root_of(const std::vector<Accusation>& accusations) const;

  PipelineState* state_;
  FaultSearch search_;
  EvidenceTable evidence_;
  std::deque<LateVisit> late_;  ///< of the last kRemembered, by delivery
  std::size_t fresh_ = 0;       ///< of these, not looked at yet
  Time judging_since_ = Time::max();
};

}  // namespace bonescan
