// All incidents of a run, and the rules by which they open, grow, close and open again.
//
// A symptom that an open incident explains is added to it; one that none explains opens a new one.
// An incident stays open until its symptoms have been silent for long enough that every pair was
// visited again, so a flap is one incident.  Where a closed one fails again in the same way soon
// after, it opens again under its old id: a repair that did not hold is no news.  Whoever opens an
// incident does not know that yet, so a new incident is a draft until it is placed or has a pair;
// a draft that is the old failure is folded into the old incident, and its index means that one.
// Invariants: 1. incidents that were reported are never removed and never reordered; 2. every
// change is reported once by take_changed(); 3. an incident that was planned does not open again;
// 4. severity never falls; 5. what was once found not to be planned stays so; 6. an index stays
// valid for the whole run, and several may mean one incident.  Thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "detectors/records/incident.h"

#include <span>
#include <string>
#include <vector>

namespace bonescan {

/// What the stages know an incident by.  Its place in all() is another number: place_of().
using IncidentIndex = std::size_t;

/// What a visit lost, where a symptom is a lossy visit.
enum class VisitLoss : std::uint8_t {
  kUnknown,  ///< the symptom is another
  kSome,
  kAll,  ///< and it had enough probes to tell that from bad luck
};

/// What is said about an incident as a whole (severity.h, action.h, maintenance.h).
struct IncidentRating {
  Severity severity = Severity::kP2;
  bool planned = false;
  std::string action;
};

class IncidentBook final {
 public:
  explicit IncidentBook(const IncidentOptions& options) : options_(options) {}

  /// In order of opening.
  const std::vector<Incident>& all() const { return incidents_; }

  const Incident& operator[](IncidentIndex index) const { return incidents_[place_of(index)]; }

  /// Open incidents, oldest first.
  const std::vector<IncidentIndex>& open() const { return open_; }

  /// Its place in all().  REQUIRES: no draft was opened since that is neither placed nor has a
  /// pair.
  std::size_t place_of(IncidentIndex index) const { return place_of_[index]; }

  /// Do both mean one incident?
  bool same(IncidentIndex a, IncidentIndex b) const { return place_of(a) == place_of(b); }

  IncidentIndex open_incident(Time now, Layer layer, Symptom symptom, std::string kind);

  /// A symptom of `pair` at `now` belongs to the incident.
  void attribute(IncidentIndex index, Time now, PairId pair, VisitLoss loss = VisitLoss::kUnknown);

  /// Replaces what the incident says about where it is.
  void place(IncidentIndex index,
             Layer layer,
             std::string kind,
             std::vector<Candidate> candidates,
             double confidence);

  /// What was some loss is total now, and remains so.  REQUIRES: not about latency.
  void worsen(IncidentIndex index, Symptom symptom);

  /// Both turned out to be about one thing: the younger one closes and says so, the older one takes
  /// its pairs.  REQUIRES: both are open, and not the same.
  void merge(IncidentIndex younger, IncidentIndex older, Time now);

  void add_evidence(IncidentIndex index, Evidence evidence);

  /// Severity only ever rises, and what was real once is never planned.
  void rate(IncidentIndex index, IncidentRating rating);

  /// Closes incidents that were silent for close_after, and for at least merge_gap (a shorter gap
  /// is one incident) and one and a half sweeps (every pair was visited again).  Those in `unheard`
  /// stay open: nobody who could tell has said anything since, and silence of the probers is not
  /// health.
  void close_silent(Time now, Duration sweep, std::span<const IncidentIndex> unheard = {});

  /// Incidents changed since the last take_changed(), by index, ascending by place.
  std::vector<IncidentIndex> changed() const;

  /// Places of the incidents changed since the last call, ascending.
  std::vector<std::size_t> take_changed();

 private:
  /// What is remembered of an incident beside the record.
  struct Notes {
    IncidentIndex index = 0;  ///< the first that meant it
    bool draft = true;        ///< nothing is known of it but its kind
    bool real = false;        ///< was once found not to be planned
    std::size_t evidence_limit = 0;
  };

  void change(std::size_t place);
  bool is_draft(std::size_t place) const;
  bool same_way(const Incident& known, const Incident& news) const;
  template <class Same>
  bool fold(IncidentIndex index, Same same);
  void open_again(std::size_t place, const Incident& news);
  void count_episode(Incident& incident, Time now) const;

  IncidentOptions options_;
  Duration sweep_{};
  std::vector<Incident> incidents_;
  std::vector<Notes> notes_;           ///< by place
  std::vector<std::size_t> place_of_;  ///< by index
  std::vector<IncidentIndex> open_;
  std::vector<std::size_t> changed_;  ///< places
  std::size_t reported_ = 0;          ///< places below it were seen by somebody
};

}  // namespace bonescan
