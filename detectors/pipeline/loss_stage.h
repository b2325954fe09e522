// From lost probes to incidents, without waiting for a window.
//
// Two rules raise suspicion: a pair that loses several probes in a row is unreachable, and a
// component whose visits are lossy together is gray (pooled evidence).  Then Algorithm 1 runs in
// order: overlay walk, underlay vote, flow tables, undetermined.  A silent pair does not wait for
// company: its incident opens in the turn that hears of it, and the same incident grows into that
// of the link once others fail with it.  A visit whose far agent is dead or stopping says nothing
// about the network and is set aside first.
// Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/localize/device_search.h"
#include "detectors/localize/fault_search.h"
#include "detectors/loss/component_evidence.h"
#include "detectors/loss/link_ledger.h"
#include "detectors/pipeline/pipeline_state.h"
#include "detectors/pipeline/second_look.h"

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace bonescan {

class LossStage final {
 public:
  explicit LossStage(PipelineState& state);

  /// Endpoints that were submitted together.
  void submit(EndpointRange range);

  /// Forgets pairs, and endpoints, of an ended task.
  void release(PairRange pairs);
  void release(EndpointId endpoint);

  /// Asks for what observe() will read of the pair, in this order and some pairs apart.
  [[gnu::always_inline]] void prefetch_both_ways(PairId pair) const {
    prefetch_row(both_ways_, pair);
  }

  [[gnu::always_inline]] void prefetch_tests(PairId pair) const {
    if (const PairId known = both_ways_.value(pair); known.valid()) {
      tests_.prefetch_pair(known);
    }
  }

  /// Appends second looks of the period that begins now.  `sent`: extra visits at the end of
  /// `requests`, which come out of the same budget.
  void plan(Time now, std::size_t sent, std::vector<ProbeRequest>& requests);

  /// Is it an extra visit?  Then it says what the pair loses, and nothing about latency.
  bool took(const Visit& visit) const { return second_look_.took(visit); }

  /// One visit, already in the log; `path` may be nullptr.
  void observe(Time now, VisitOutcome& visit, const TracedPath* path);

  /// An endpoint lives on under another GID: probes find it, connections do not.
  void address_changed(const MembershipEvent& event);

  /// End of a round: localize what is unexplained, refine what is open.
  void run(Time now);

  /// Bytes that go with pairs and endpoints, and bytes that stay.
  std::size_t held_size() const {
    return evidence_.held_size() + tests_.held_size() + both_ways_.held_size() +
           agent_dead_at_.held_size() + host_of_.held_size();
  }

  std::size_t kept_size() const {
    return evidence_.kept_size() + tests_.kept_size() + both_ways_.kept_size() +
           agent_dead_at_.kept_size() + host_of_.kept_size();
  }

 private:
  static constexpr IncidentIndex kNoIncident = std::numeric_limits<IncidentIndex>::max();

  /// Which path a visit is read on where the pair's has moved since.
  enum class PathReading {
    kThen,  ///< the one that was known last when it started
    kNow,   ///< the new one: it had moved long before that was found
  };

  /// The visits that evidence is gathered from.
  enum class Gathered {
    kUnexplained,  ///< what no incident explains yet, and what incidents of lone pairs do
    kAll,          ///< ... and what incidents of links, or of nothing, explain
  };

  /// A failing pair that no incident explains yet.
  struct Unexplained {
    PairId pair;
    Time since;
    Symptom symptom = Symptom::kUnreachable;
    bool walked = false;                   ///< the overlay was walked, or cannot be
    bool walk_clear = false;               ///< ... and is clear; false if it could not be walked
    bool pending = false;                  ///< the overlay was asked and has not answered yet
    bool claimed = false;                  ///< an incident explains it now
    IncidentIndex incident = kNoIncident;  ///< its own, already open; tables are still to answer
    std::string walk_text;
  };

  void weigh(const VisitOutcome& visit, const TracedPath* path);
  VisitTrial trial_of(const VisitOutcome& visit);
  /// An incident explains the visit: no other component may be suspected because of it.
  void withdraw(const VisitOutcome& visit);
  /// One id for both directions.
  PairId both_ways(PairId pair);
  bool suspicious() const;
  /// Puts the pair among the unexplained, once.
  void hold(Time now, PairId pair, Symptom symptom);
  Attribution attribute(Time now, const VisitOutcome& visit);
  /// Had one of its ends just become ready?
  bool excused_by_start(const VisitOutcome& visit);
  bool excused_by_agent(Time now, const VisitOutcome& visit);
  /// Is one end of the pair an RNIC that the incident says is cut off: by its GID, or as its host
  /// found?
  bool cut_off(const Incident& incident, PairId pair) const;
  IncidentIndex agent_incident(Time now, EndpointId endpoint);
  void walk_overlays(Time now);
  /// False if the allowance is used up.
  bool walk_overlay(Time now, Unexplained& item);
  void open_overlay(Time now, const OverlayFinding& finding, const Unexplained& item);
  bool overlay_is_busy() const;
  /// Walks a pair that nobody walked yet; true if its walk breaks, and has an incident now.
  bool overlay_explains(Time now, std::span<const PairId> pairs);
  void accuse_links(Time now);
  /// Is there an unexplained pair, or an alarm, behind it?
  bool founded(const Accusation& accusation) const;
  void accuse_by_tests(Time now);
  /// Is the pair gone, explained, or among the unexplained as silent?
  bool settled_elsewhere(PairId pair) const;
  /// Does an open incident of loss hold the pair, or one of its candidates lie on its path?
  bool explained(PairId pair) const;
  void open_tested(Time now,
                   const ComponentAlarm& alarm,
                   std::span<const ComponentAlarm> all,
                   const std::vector<PairId>& pairs);
  std::vector<Accusation> blame(std::span<const PathEvidence> evidence, bool unreachable);
  /// Of the two readings of paths that have moved, what the one says that explains more; evidence_
  /// is left as it is read there.
  std::vector<Accusation> best_reading(Time since, Gathered what, bool unreachable);
  std::vector<Accusation> accused(Gathered what, bool unreachable);
  bool accuses_silent(const Accusation& accusation) const;
  void open_underlay(Time now, const Accusation& accusation, std::span<const LinkVotes> raw);
  /// A lone pair's incident becomes that of the accused link.
  void grow(Time now,
            IncidentIndex index,
            const Accusation& accusation,
            std::span<const LinkVotes> raw);
  void join(Time now,
            IncidentIndex index,
            const Accusation& accusation,
            std::span<const LinkVotes> raw);
  void describe_underlay(Time now,
                         IncidentIndex index,
                         const Accusation& accusation,
                         std::span<const LinkVotes> raw);
  void claim_lossy(IncidentIndex index, Time now, std::span<const PairId> pairs, double llr);
  bool mostly_silent(const Accusation& accusation) const;
  bool dead_since(const Accusation& accusation) const;
  static Duration patience();
  void give_up_on_lone_pairs(Time now);
  void give_up_on(Time now, Unexplained& item);
  /// Does another failing pair share a link with it, so that the vote may soon know more?
  bool has_company(const Unexplained& item) const;
  /// Did a closed incident of a link hold the pair, so that it may be about to open again?
  bool may_open_again(Time now, PairId pair) const;
  /// An incident of one silent pair, which may grow into that of a link.
  bool lone(const Incident& incident) const;
  IncidentIndex lone_incident_of(std::span<const PairId> pairs) const;
  /// Starts the tests of the candidates anew: what they lost is explained.
  void forgive(IncidentIndex index);
  void forgive_link(ComponentId link);
  void refine(Time now);
  /// An incident of loss that names links, and no device.
  bool of_links(const Incident& incident) const;
  bool due(const Incident& incident, IncidentIndex index, Time now);
  void refine_one(Time now, IncidentIndex index, std::span<const Accusation> accusations);
  /// The place that explains today's evidence best; nullptr: where it is, or nowhere for sure.
  const Accusation* better_place(const Incident& incident,
                                 std::span<const Accusation> accusations) const;
  /// Fills evidence_.
  void gather(Time since, Gathered what, PathReading reading);
  bool counts(const VisitOutcome& visit, Gathered what) const;
  bool explained_elsewhere(PairId pair) const;
  /// Names a switch, or an RNIC, where it explains several incidents better than their links do.
  void raise_devices(Time now);
  /// Devices that incidents of the last minute may have in common.
  std::vector<DeviceId> shared_devices(std::span<const IncidentIndex> group) const;
  bool touches(const Incident& incident, DeviceId device) const;
  /// What pairs say from the first to the last loss of these incidents.
  std::vector<PathEvidence> pair_evidence(std::span<const IncidentIndex> group) const;
  bool of_one_host(std::span<const PairId> pairs) const;
  void raise(Time now, std::span<const IncidentIndex> group, const DeviceAccusation& fault);
  /// A device that is accused no more gives way to its links.
  void lower(Time now, IncidentIndex index, std::span<const DeviceAccusation> faults);
  void claim(IncidentIndex index, Time now, PairId pair);
  void drop_claimed();
  IncidentIndex open_incident_of(const Accusation& accusation) const;
  IncidentIndex overlay_incident_of(PairId pair) const;
  /// An open incident of a gray link on the pair's path.
  IncidentIndex gray_incident_of(PairId pair) const;
  /// An open underlay incident that may be the pair's as well.
  IncidentIndex underlay_incident_of(const Unexplained& item) const;
  IncidentIndex open_lone(Time now, const Unexplained& item);
  void place_lone(Time now, const Unexplained& item, const TableFinding& tables);
  void describe_loss(Time now, IncidentIndex index, PairId pair);

  static bool suspects(const Accusation& accusation, ComponentId link);

  /// A link that is out of service explains nothing that is lost elsewhere: see lost_on().
  static bool about_loss(const Incident& incident) {
    return incident.symptom != Symptom::kLatency && incident.kind != kLinkWithdrawn;
  }
  /// Did the pair's path of that time cross the link that has been out of service since?
  bool lost_on(const Incident& withdrawn, PairId pair, Time start) const;

  PipelineState* state_;
  LinkLedger ledger_;        ///< the paper's configuration only
  ComponentEvidence tests_;  ///< the other one's
  PagedColumn<PairId, PairId> both_ways_;
  SecondLook second_look_;
  UnderlayVote vote_;          ///< counts; ranks the links of a lone pair
  FaultSearch search_;         ///< which links together; the paper's configuration counts
  FaultSearch silent_search_;  ///< ... where a silent pair shows that some link is at fault
  DeviceSearch device_search_;
  EvidenceTable evidence_;
  double base_per_visit_;
  std::vector<Unexplained> unexplained_;
  std::map<IncidentIndex, std::size_t> refined_pairs_;  ///< of open ones, when last scored again
  PagedColumn<EndpointId, Time> agent_dead_at_;         ///< last time it was found dead
  PagedColumn<EndpointId, std::uint32_t> host_of_;      ///< dense number of the endpoint's host
  std::map<std::string, std::uint32_t> hosts_;          ///< every host ever, by name
  std::vector<IncidentIndex> agent_incident_;           ///< by host; may be closed
};

}  // namespace bonescan
