// From the verdicts of any detector to incidents, by the plainest rules that are fair to all.
//
// Intuition: a published method is a rule for pairs and perhaps a vote over links; it does not say
// when two alarms are one.  So that a method, or a stranger's detector, can be scored beside ours,
// its verdicts become incidents here: what an open incident explains joins it, what a localizer
// explains together opens one, and what is left opens one per RNIC.  No overlay is walked and no
// table read: a detector that wants more is a pipeline.
//
// Rules, in this order: 1. an accused pair joins an open incident of its symptom that holds it or
// its reverse, one of whose candidates its path crosses, or that was opened for one of its RNICs;
// 2. the others are localized together with all evidence of the last `evidence_window`; an
// accusation opens an underlay incident; 3. of those that are left, the RNIC that most of them
// share opens an incident, which names it if two pairs share it; 4. an incident closes after the
// silence that IncidentBook asks for. Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"
#include "detectors/incident/incident_book.h"
#include "detectors/localize/localizer.h"
#include "detectors/localize/path_book.h"
#include "detectors/loss/visit_log.h"
#include "detectors/records/updates.h"
#include "detectors/telemetry/telemetry.h"
#include "sim/base/paged_column.h"

#include <map>
#include <span>
#include <vector>

namespace bonescan {

struct PlainAnalysisOptions {
  IncidentOptions incident{};
  Duration cold_after = std::chrono::seconds(10);       ///< @ours max-idle of the bridges
  Duration evidence_window = std::chrono::seconds(60);  ///< @ours, the pool window of the pipeline
  Duration sweep = std::chrono::seconds(30);  ///< of the recorded schedule: how long silence lasts
};

class PlainAnalysis final {
 public:
  /// `localizer` may be nullptr: then nothing is ever named.  All must outlive the analysis.
  PlainAnalysis(const PlainAnalysisOptions& options,
                const Telemetry& telemetry,
                Detector& detector,
                Localizer* localizer);

  /// Whole visits.  Those with other packets than the pair's first are extra visits, which somebody
  /// else's suspicion asked for, and are left out.
  /// REQUIRES: `now` never goes back; `pairs` only grows.
  void observe(Time now, const PairTable& pairs, const ProbeBatch& batch);

  /// Asks the detector, opens and closes incidents.
  void poll(Time now);

  const std::vector<Incident>& incidents() const { return book_.all(); }

  PipelineUpdates take_updates();

 private:
  /// What the last visits of a pair say.
  struct Count {
    std::uint32_t visits = 0;
    std::uint32_t lossy = 0;
  };

  /// What the plan sends for a pair.
  struct Packets {
    std::uint16_t payload_bytes = 0;
    std::uint8_t dscp = 0;
    bool known = false;
  };

  void welcome(const PairTable& pairs);
  bool planned(const Visit& visit);
  void count_recent();
  Symptom symptom_of(const Verdict& verdict) const;
  bool attribute(Time now, const Verdict& verdict, Symptom symptom);
  bool explains(IncidentIndex index, PairId pair) const;
  void localize(Time now, Symptom symptom, std::vector<Verdict>& accused);
  void gather(Time now, Symptom symptom);
  void open_underlay(Time now,
                     Symptom symptom,
                     const Accusation& accusation,
                     std::span<const Verdict> accused);
  void open_rest(Time now, Symptom symptom, std::vector<Verdict>& accused);
  /// Names the RNIC that the incident was opened for once two of its pairs, either way, share it.
  void name_rnic(IncidentIndex index);
  void explain(IncidentIndex index, Time now, const Verdict& first);

  PlainAnalysisOptions options_;
  Telemetry telemetry_;
  Detector* detector_;
  Localizer* localizer_;
  IncidentBook book_;
  PathBook paths_;
  VisitLog log_;
  PairTable pairs_;
  PagedColumn<PairId, Packets> packets_;
  PagedColumn<PairId, Time> last_visit_;
  PagedColumn<PairId, Time> accused_at_;  ///< last latency verdict
  PagedColumn<PairId, Count> counts_;
  std::vector<PairId> counted_;
  std::vector<PathEvidence> items_;
  std::vector<ObservedVisit> visits_;
  std::vector<Verdict> verdicts_;
  std::map<IncidentIndex, EndpointId> opened_for_;  ///< by rule 3
  std::vector<Verdict> told_;                       ///< since take_updates()
};

}  // namespace bonescan
