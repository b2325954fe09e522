// Asks hosts what probes cannot see: where a localization ends with nothing, and all in turn.
//
// An incident that no stage could place, or that was placed by elimination, gets the reports of
// both ends of its first pair as evidence before it is left as it is.  So does one of an end that
// is silent or late: its cable is accused, and a cable, a port that is down, an address that nobody
// routes and a slot that has lost its lanes look alike to probes.  A slow round asks every host of
// one of its endpoints every few visit periods (host_round.h).  What is found opens an incident of
// Layer::kHost, one for each kind and component, and never one of the network; it stays open until
// a later report is free of it.  What an open incident is about already (a link that probes accuse,
// a GID change that was announced) is evidence for that one.  What two RNICs of a host have in
// common is the host's, and bonds that have lost a leg to one switch are that switch's.
// Invariants: 1. no more inspections per visit period than the allowance, and one a host of the
// round;
// 2. a report that is pending is asked for again, one that is unavailable is not missed; 3. what is
// asked follows from what was observed alone.  Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/localize/host_check.h"
#include "detectors/pipeline/host_round.h"
#include "detectors/pipeline/pipeline_state.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {

class HostCheckStage final {
 public:
  explicit HostCheckStage(PipelineState& state);

  /// End of a round, after the other stages.
  void run(Time now);

  /// Does the last report about the incident's component still show it?
  bool still_found(IncidentIndex index) const;

  /// Forgets an endpoint of an ended task.
  void release(EndpointId endpoint);

 private:
  /// What is wrong, where, and the endpoints whose last report showed it.
  struct Found {
    IncidentIndex incident = 0;
    ComponentId host;
    ComponentId link;  ///< of a bond's member that is down, if a path has shown it
    std::vector<EndpointId> seen_from;
  };

  bool enabled() const;
  void explain_incidents(Time now);
  bool unexplained(const Incident& incident) const;
  /// REQUIRES: it has a pair.
  bool at_an_access_link(const Incident& incident) const;
  void ask_round(Time now);
  /// Asks, judges, opens; false if the answer is on its way.  `told` gets one sentence.
  bool inspect(EndpointId at, Time now, std::string& told, bool& clear);
  /// False if it was found before, or is none to open an incident for.
  bool open(EndpointId at, Time now, const HostFinding& finding, ComponentId host);
  /// The same at another RNIC: it is no card's, it is the board's or the switch's.  False if not.
  bool shared(Time now, const HostFinding& finding, Found& found);
  /// What both findings of one kind, at two RNICs, have in common: a host, a switch or nothing.
  ComponentId common_part(HostFindingKind kind, const Found& one, const Found& other) const;
  /// The link of a bond's member; invalid if no path has shown one by that name.
  ComponentId link_of(const HostFinding& finding) const;
  void settle(EndpointId at, const std::vector<HostFinding>& findings);
  /// An open incident that is about the same thing.
  IncidentIndex known_as(EndpointId at, const HostFinding& finding) const;
  void take_over(EndpointId at, const HostFinding& finding, Symptom symptom, bool is_new);
  bool accuses_access_of(const Incident& incident, EndpointId at) const;

  PipelineState* state_;
  HostRules rules_;
  HostFleet fleet_;
  std::map<std::pair<HostFindingKind, ComponentId>, Found> found_;
  std::vector<IncidentIndex> explained_;  ///< ascending: their ends were asked
  std::size_t left_ = 0;                  ///< of the allowance of this period
  HostRound round_;
  std::vector<EndpointId> due_;  ///< of the round; answers on their way are asked for again
};

}  // namespace bonescan
