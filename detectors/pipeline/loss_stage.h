// From lost probes to incidents, without waiting for a window.
//
// Two rules raise suspicion: a pair that loses several probes in a row is unreachable, and a link
// whose visits are lossy together is gray (pooled evidence).  Then Algorithm 1 runs in order:
// overlay walk, underlay vote, flow tables, undetermined.  A visit whose far agent is dead or
// stopping says nothing about the network and is set aside first. Internal to detectors/pipeline;
// thread-compatible.
#pragma once

#include "detectors/loss/link_ledger.h"
#include "detectors/pipeline/pipeline_state.h"

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

  /// One visit, already in the log; `path` may be nullptr.
  void observe(Time now, VisitOutcome& visit, const TracedPath* path);

  /// An endpoint lives on under another GID: probes find it, connections do not.
  void address_changed(const MembershipEvent& event);

  /// End of a round: localize what is unexplained, refine what is open.
  void run(Time now);

  /// Bytes that go with pairs and endpoints, and bytes that stay.
  std::size_t held_size() const {
    return evidence_.held_size() + agent_dead_at_.held_size() + host_of_.held_size();
  }

  std::size_t kept_size() const {
    return evidence_.kept_size() + agent_dead_at_.kept_size() + host_of_.kept_size();
  }

 private:
  /// A failing pair that no incident explains yet.
  struct Unexplained {
    PairId pair;
    Time since;
    Symptom symptom = Symptom::kUnreachable;
    bool walked = false;      ///< the overlay was walked, or cannot be
    bool walk_clear = false;  ///< ... and is clear; false if it could not be walked
    bool pending = false;     ///< the overlay was asked and has not answered yet
    bool claimed = false;     ///< an incident explains it now
    std::string walk_text;
  };

  /// Puts the pair among the unexplained, once.
  void hold(Time now, PairId pair, Symptom symptom);
  Attribution attribute(Time now, const VisitOutcome& visit);
  bool excused_by_agent(Time now, const VisitOutcome& visit);
  /// Is the incident a changed GID of one end of the pair?
  bool explained_by_gid_change(const Incident& incident, const Pair& ends) const;
  IncidentIndex agent_incident(Time now, EndpointId endpoint);
  void walk_overlays(Time now);
  /// False if the allowance is used up.
  bool walk_overlay(Time now, Unexplained& item);
  void open_overlay(Time now, const OverlayFinding& finding, PairId pair);
  bool overlay_is_busy() const;
  void accuse_links(Time now);
  std::vector<Accusation> blame(std::span<const PathEvidence> evidence, bool unreachable);
  void open_underlay(Time now, const Accusation& accusation, std::span<const LinkVotes> raw);
  void give_up_on_lone_pairs(Time now);
  void refine(Time now);
  void refine_one(Time now, IncidentIndex index);
  void gather(Time since, const Incident* incident);
  void claim(IncidentIndex index, Time now, PairId pair);
  void drop_claimed();
  IncidentIndex open_incident_of(const Accusation& accusation) const;
  IncidentIndex overlay_incident_of(PairId pair) const;
  /// An open underlay incident that may be the pair's as well.
  IncidentIndex underlay_incident_of(const Unexplained& item) const;
  void open_lone(Time now, const Unexplained& item, const TableFinding& tables);
  void describe_loss(Time now, IncidentIndex index, PairId pair);

  static constexpr IncidentIndex kNoIncident = std::numeric_limits<IncidentIndex>::max();

  static bool about_loss(const Incident& incident) { return incident.symptom != Symptom::kLatency; }

  PipelineState* state_;
  LinkLedger ledger_;
  UnderlayVote gray_vote_;         ///< needs full evidence
  UnderlayVote unreachable_vote_;  ///< a silent pair is strong evidence by itself
  EvidenceTable evidence_;
  double base_per_visit_;
  std::vector<Unexplained> unexplained_;
  PagedColumn<EndpointId, Time> agent_dead_at_;     ///< last time it was found dead
  PagedColumn<EndpointId, std::uint32_t> host_of_;  ///< dense number of the endpoint's host
  std::map<std::string, std::uint32_t> hosts_;      ///< every host ever, by name
  std::vector<IncidentIndex> agent_incident_;       ///< by host; may be closed
};

}  // namespace bonescan
