// What the stages of the pipeline share.  Internal to detectors/pipeline.
#pragma once

#include "detectors/incident/incident_book.h"
#include "detectors/localize/device_table.h"
#include "detectors/localize/fault_search.h"
#include "detectors/localize/inspector.h"
#include "detectors/localize/path_book.h"
#include "detectors/localize/underlay_vote.h"
#include "detectors/loss/visit_log.h"
#include "detectors/pipeline/evidence_table.h"
#include "detectors/pipeline/pipeline_options.h"
#include "detectors/records/updates.h"
#include "detectors/schedule/probe_scheduler.h"
#include "detectors/telemetry/telemetry.h"
#include "sim/base/paged_column.h"
#include "skeleton/activation.h"
#include "skeleton/task_book.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {

constexpr const char* kTableMismatch = "table-mismatch";
constexpr const char* kGidChange = "gid-change";
constexpr const char* kBridgeLatency = "bridge-latency";
constexpr const char* kMiscabled = "miscabled";
constexpr const char* kLinkLatency = "link-latency";
constexpr const char* kSlowPair = "slow-pair";
constexpr const char* kLinkWithdrawn = "link-withdrawn";
constexpr const char* kUplinksIdle = "uplinks-idle";
constexpr const char* kLatencyDrift = "latency-drift";

/// Tables that do not answer are asked this often, once per visit period. @ours
constexpr int kTableAsks = 3;

/// What chance leaves unused by so much (e^-14, as for a link that a vote accuses) is no chance.
/// @ours
constexpr double kUnusedNats = 14.0;

/// A pair left its path lately if the move was found so long ago. @ours
constexpr Duration kLately = std::chrono::seconds(60);

/// Share of an earlier score that newer evidence must reach to replace it. @ours
constexpr double kKeepScore = 0.8;

/// Directed links that a path of two tiers crosses there and back. @ours
constexpr double kLinksOfAPath = 16.0;

/// Evidence from before an incident opened that still counts when it is looked at again. @ours
constexpr Duration kLead = std::chrono::seconds(10);

/// What every visit of a pair needs to know and leaves behind.
struct PairMemory {
  Time last_visit = Time::min();
  Time last_heard = Time::min();  ///< when a report with a probe in it was last observed
  std::uint16_t source_port = 0;  ///< of the last visit
  bool live = false;              ///< neither unknown nor released
};

struct PipelineState {
  PipelineState(const PipelineOptions& all_options, const Telemetry& the_telemetry);

  PipelineOptions options;
  Telemetry telemetry;
  Activation activation;
  TaskBook tasks;
  ProbeScheduler scheduler;
  PathBook paths;
  VisitLog log;
  Inspector inspector;
  IncidentBook incidents;
  DeviceTable devices;
  PipelineUpdates updates;
  PagedColumn<PairId, PairMemory> memory;
  std::uint32_t endpoint_count = 0;  ///< those of the directory that were submitted so far
  std::uint64_t pairs_full_mesh = 0;
  std::uint64_t pairs_same_rail = 0;
  std::map<ComponentId, std::string> bridge_hosts;  ///< of bridges that were blamed for delay
  std::vector<PairRange> new_pairs;  ///< that relist() appended, until somebody has seen to them

  /// Lists for endpoints that were submitted together; returns their pairs.
  PairRange submit(EndpointRange range);

  /// Another list for one source of a task that lives.
  void relist(EndpointId source, std::span<const EndpointId> targets);

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

  bool live(PairId pair) const { return memory.value(pair).live; }

  bool paper() const { return options.configuration == DetectionConfiguration::kPaper; }

  Duration sweep() const { return from_seconds(scheduler.sweep_s()); }

  const Pair& ends(PairId pair) const { return scheduler.pairs()[pair]; }

  FlowKey flow(PairId pair) const {
    return {ends(pair).source, ends(pair).target, memory.value(pair).source_port};
  }

  /// "host-0.01/rnic-3 -> host-2.05/rnic-3"
  std::string pair_name(PairId pair) const;

  /// Is the component one of those that the incident may mean?
  static bool names(const Incident& incident, ComponentId component);

  /// Does the pair's known path, either way, cross the link?
  bool crosses_link(PairId pair, ComponentId link) const;

  /// Is the pair one of the incident's, in this direction?
  static bool holds(const Incident& incident, PairId pair);

  /// In this direction or the other: a round trip of one is a round trip of both.
  bool holds_either_way(const Incident& incident, PairId pair) const;

  /// How many pairs these are when direction does not count.
  std::size_t distinct_pairs(const std::vector<PairId>& pairs) const;

  /// Names the RNIC or the bridge whose tables disagree, and its layer.
  void place_table_mismatch(IncidentIndex index, const TableFinding& tables);

  /// Opens an underlay incident about the links that a vote accuses.
  IncidentIndex open_accused(Time now,
                             Symptom symptom,
                             const std::string& kind,
                             const Accusation& accusation);

  /// Walks the pair's overlay for the record; says nothing if the allowance is used up.
  void explain_walk(IncidentIndex index, Time now, PairId pair);

  /// What the vote found; `unit` is what was counted, for example "lossy visits".
  void explain_vote(IncidentIndex index,
                    Time now,
                    const Accusation& accusation,
                    std::span<const LinkVotes> raw,
                    std::string_view unit);

  /// Does the pair's known path, or one that it had until lately when the incident opened, cross a
  /// candidate of an underlay incident?  Of one about idle uplinks, go up from the switch.
  bool crosses_candidate(const Incident& incident, PairId pair) const;
  bool crosses_candidate(const Incident& incident, const TracedPath& path) const;

  /// Is the link a candidate, or one of a switch or RNIC that is?
  bool names_link(const Incident& incident, ComponentId link) const;

  /// The switch or RNIC that an underlay incident names; invalid if it names links.
  DeviceId named_device(const Incident& incident) const;

  /// The switch that chooses the link for what goes up; invalid if an RNIC does, or nobody known.
  DeviceId chooser(ComponentId link) const;

  /// Pairs that had a path of that kind lately and have left it; ascending.
  template <class Kind>
  std::vector<PairId> left_lately(Time now, const Kind& kind) const {
    std::vector<PairId> found;
    paths.for_each_former([&](PairId pair, std::span<const FormerPath> former) {
      if (live(pair) && std::any_of(former.begin(), former.end(), [&](const FormerPath& one) {
            return now - one.until <= kLately && kind(one.path);
          })) {
        found.push_back(pair);
      }
    });
    return found;
  }

  /// Do the paths of both, as they were at that time, cross one link?
  bool share_a_link(PairId a, PairId b, Time at) const;
  bool share_a_link(PairId a, PairId b) const;

  /// Is one end of each on the same host?
  bool share_a_host(PairId a, PairId b) const;

  bool ends_on(PairId pair, std::string_view host) const;

  /// Does the pair end on the host whose bridge is blamed for delay?
  bool bridge_explains(const Incident& incident, PairId pair) const;

  /// Is the component the RNIC at an end of the pair?
  bool ends_at(PairId pair, ComponentId rnic) const;

  /// Do all of these share an end?  Then no probe tells its link from its tables.  REQUIRES: some.
  bool share_an_end(std::span<const PairId> pairs) const;

  /// Is the incident 1, 2, 4, 8, ... visit periods old?  Early evidence moves an answer most.
  bool due_again(const Incident& incident, Time now) const;

  /// Places an incident on links; without any it stays where it is.  Where an open one names the
  /// same links already, the younger of both is closed for the other: which lives on is returned.
  IncidentIndex place_on_links(Time now,
                               IncidentIndex index,
                               const std::string& kind,
                               std::span<const LinkScore> suspects);

 private:
  /// Another open incident of the same kind of symptom that names the same links.
  std::optional<IncidentIndex> twin_of(IncidentIndex index) const;
  /// Does a host's finding about an RNIC say why its access link is silent?
  bool told_by_host(Symptom symptom, ComponentId link, const Incident& host) const;
};

/// One line for the vote: the accused, its numbers, and what the raw count would have said.
std::string vote_text(const LinkScore& best,
                      std::size_t set_size,
                      std::span<const LinkVotes> raw,
                      const ComponentTable& components,
                      std::string_view unit);

/// The paper's configuration: the cables on most failing paths, whatever else crosses them; at most
/// one accusation.
std::vector<Accusation> published_vote(UnderlayVote& vote, std::span<const PathEvidence> evidence);

std::vector<Candidate> candidates_of(std::span<const LinkScore> suspects);

/// Of the vote over late windows, late visits and drifting levels.
VoteOptions latency_vote_options(const PipelineOptions& options);

/// A trial is a window, a visit or a level.
FaultSearchOptions latency_search_options(const PipelineOptions& options);

/// Links that explain late paths with open_llr nats, most of what crosses each being late.
std::vector<Accusation> late_links(FaultSearch& search,
                                   std::span<const PathEvidence> evidence,
                                   const PipelineOptions& options);

}  // namespace bonescan
