// All incidents of a run, and the rules by which they open, grow, and close.
//
// A symptom that an open incident explains is added to it; one that none explains opens a new one.
// An incident stays open until its symptoms have been silent for long enough that every pair was
// visited again, so a flap is one incident.
// Invariants: 1. incidents are never removed and never reordered; 2. every change is reported once
// by take_changed(); 3. a closed incident never opens again. Thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "detectors/records/incident.h"

#include <span>
#include <string>
#include <vector>

namespace bonescan {

using IncidentIndex = std::size_t;

class IncidentBook final {
 public:
  explicit IncidentBook(const IncidentOptions& options) : options_(options) {}

  const std::vector<Incident>& all() const { return incidents_; }

  const Incident& operator[](IncidentIndex index) const { return incidents_[index]; }

  /// Open incidents, oldest first.
  const std::vector<IncidentIndex>& open() const { return open_; }

  IncidentIndex open_incident(Time now, Layer layer, Symptom symptom, std::string kind);

  /// A symptom of `pair` at `now` belongs to the incident.
  void attribute(IncidentIndex index, Time now, PairId pair);

  /// Replaces what the incident says about where it is.
  void place(IncidentIndex index,
             Layer layer,
             std::string kind,
             std::vector<Candidate> candidates,
             double confidence);

  void add_evidence(IncidentIndex index, Evidence evidence);

  /// Closes incidents that were silent for close_after, and for at least merge_gap (a shorter gap
  /// is one incident) and one and a half sweeps (every pair was visited again).  Those in `unheard`
  /// stay open: nobody who could tell has said anything since, and silence of the probers is not
  /// health.
  void close_silent(Time now, Duration sweep, std::span<const IncidentIndex> unheard = {});

  /// Incidents changed since the last call, ascending.
  std::vector<std::size_t> take_changed();

 private:
  void changed(IncidentIndex index);

  IncidentOptions options_;
  std::vector<Incident> incidents_;
  std::vector<IncidentIndex> open_;
  std::vector<std::size_t> changed_;
};

}  // namespace bonescan
