// From anomalous windows to incidents: what is late, and where.
//
// One late window is a hint, not an incident: congestion makes some.  An incident opens when a
// stage can prove it: a link that most of its pairs find slow (vote), an RNIC whose tables disagree
// (diff), or a pair that stays slow for a second window.  Algorithm 1's order is kept: overlay
// walk, vote, tables.
//
// Visits are judged as they complete (not in the paper's configuration).  A late visit is under the
// budget of false alarms already, so a pair that is late alone, by half as much again and as a
// whole, is reported at once as a slow pair that nobody can place yet; company of other pairs,
// tables or the rest of the sweep refine that incident instead of opening another.  What is known
// before the first late visit says nothing about the failure, so the vote hears visits since then
// only.
//
// RNICs of one host that are late together are no accident of their links: before one of those is
// blamed, their tables are read, and if two of them explain nothing the host's bridge takes the
// blame for all (shared_host.h), with what was said of a single one of them moments before.
//
// A path that now goes over another RNIC's cable proves where the failure is: one late visit will
// do. Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/localize/fault_search.h"
#include "detectors/localize/shared_host.h"
#include "detectors/pipeline/pipeline_state.h"
#include "detectors/pipeline/queue_watch.h"
#include "detectors/pipeline/table_watch.h"
#include "detectors/shortterm/shift_detector.h"
#include "detectors/shortterm/short_term_detector.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

class LatencyStage final {
 public:
  explicit LatencyStage(PipelineState& state);

  /// All results of a window that has just closed.
  void window_closed(Time now, std::span<const ShortTermResult> results);

  /// Visits that completed in this turn, at most one decision a pair.
  void visits_judged(Time now, std::span<const JudgedVisit> visits);

  /// Between windows: goes on with table dumps that the allowance put off.
  void run(Time now);

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

  /// Bytes that go with pairs, and bytes that stay.
  std::size_t held_size() const {
    return evidence_.held_size() + late_windows_.held_size() + seen_.held_size();
  }

  std::size_t kept_size() const {
    return evidence_.kept_size() + late_windows_.kept_size() + seen_.kept_size();
  }

 private:
  struct Late {
    PairId pair;
    float lof = 0.0F;
    float factor = 1.0F;
    int asked = 0;  ///< times its tables were asked for without an answer
    // Of late visits:
    bool by_visit = false;
    Time since{};                 ///< start of its first late visit
    Time last{};                  ///< and of its last one
    std::uint32_t visits = 0;     ///< late ones
    float minimum_factor = 1.0F;  ///< as factor, of the minimum
    float log_p = 0.0F;
    std::optional<TableFinding> tables{};  ///< they do not explain it
  };

  /// What a pair's last judged visit was.
  enum class Heard : std::uint8_t {
    kNothing,
    kHealthy,
    kLate,       ///< and no incident says why
    kWaiting,    ///< late, and its incident has no place yet
    kExplained,  ///< late, and no evidence about anything else
  };

  struct Seen {
    Time at = Time::min();  ///< start of the visit
    Heard heard = Heard::kNothing;
  };

  /// An incident that visits opened, while they may still say better where it is.
  struct Growing {
    IncidentIndex index = 0;
    Time onset;
    int table_reads = 0;  ///< since it opened
  };

  /// Links that only one RNIC's pairs accuse: its own link, or what its tables do with packets.
  struct Held {
    Accusation accusation;
    std::vector<LinkVotes> raw;
    bool by_visit = false;
  };

  /// RNICs of one host that are late together, while their tables are read.
  struct Suspicion {
    SharedHost host;
    bool by_visit = false;
    /// Those of its RNICs whose tables explain nothing; what they said, unless it was said before.
    std::map<EndpointId, std::optional<TableFinding>> clear{};
    std::map<EndpointId, int> asked{};  ///< its RNICs, how often in vain
    bool no_bridge = false;             ///< nobody knows its bridge: its links are blamed
  };

  /// The open incident that the pair's being late belongs to.
  std::optional<IncidentIndex> explaining(PairId pair) const;
  bool attribute(Time now, PairId pair);
  /// An incident of one pair, which waits for somebody to place it.
  bool placeless(const Incident& incident) const;
  void accuse_links(Time now, std::span<const ShortTermResult> results);
  /// `first`: the pair that is shown as an example; nullptr for none.
  void open_link(Time now,
                 const Accusation& accusation,
                 std::span<const LinkVotes> raw,
                 const Late* first);
  const Late* first_late(const Accusation& accusation) const;
  /// An open incident that already says so, or that has waited for it.
  std::optional<IncidentIndex> join_link(Time now, const Accusation& accusation);
  void check_tables(Time now);
  /// Tables do not explain the pair: what was held back because of it is blamed.  False if nothing
  /// was.
  bool open_held(Time now, const Late& late);
  void open_rnic(Time now, const Late& late, const TableFinding& tables);
  /// The incident of a slow pair of that RNIC, or a new one, placed on it.
  IncidentIndex place_rnic(Time now, const TableFinding& tables);
  /// Is the component the RNIC of an end of one of the incident's pairs?
  bool ends_at(const Incident& incident, ComponentId rnic) const;
  void open_persistent(Time now, const Late& late, const TableFinding& tables);
  void describe(Time now, IncidentIndex index, const Late& late);
  bool claimed(PairId pair) const;
  /// Its tables do not explain it; what does?  False if it must wait.
  bool settle(Time now, const Late& late, std::span<const Late> others);
  /// So long after it opened an incident may still be refined.
  Duration growing_for() const;

  // latency_hosts.cpp
  /// Weighs hosts on what the last window, or the visits since `onset`, said; what accusations
  /// explain that no one RNIC could is left out.
  void suspect_hosts(Time now,
                     std::span<const ShortTermResult> results,
                     std::span<const Accusation> accusations);
  void suspect_hosts(Time now, Time onset, std::span<const Accusation> accusations);
  void suspect_hosts(Time now, bool by_visit, std::span<const PairLateness> pairs);
  /// May it be one symptom among several of its host?
  bool may_be_shared(const Incident& incident, Time now) const;
  bool all_end_on(std::span<const PairId> pairs, std::string_view host) const;
  /// Is the pair's being late still to be explained, by a host if need be?
  bool unexplained(PairId pair, Time now, std::span<const Accusation> accusations) const;
  Suspicion* suspicion_of(const Late& late);
  bool suspected(const Accusation& accusation) const;
  /// Must the tables be read for its suspicion?  True if it has none.
  bool needs_tables(const Late& late);
  /// The tables at both ends explain nothing.
  void note_tables(const Late& late);
  /// Were the tables of an RNIC of a suspected host asked often enough in vain, for whatever pair?
  bool unreadable(const Late& late);
  void drop_suspicions(const TableFinding& mismatch);
  void open_hosts(Time now);
  void open_host(Time now, const Suspicion& suspicion, ComponentId bridge);
  ComponentId bridge_of(const Suspicion& suspicion) const;

  // latency_cables.cpp
  /// An access link of a pair's path that is another RNIC's now.
  struct MovedCable {
    ComponentId was;
    ComponentId is;
  };

  std::optional<MovedCable> moved_cable(PairId pair);
  void open_miscabled(Time now, const Late& late, const MovedCable& cable);
  /// Takes a slow pair that waits for its place into an incident that has come to name one.
  void absorb_lone(Time now, IncidentIndex index, std::span<const LinkScore> suspects);

  // latency_visits.cpp
  bool late_visit(Time now, const JudgedVisit& visit);
  /// Some of its probes were late, and as a whole it was not.
  void part_visit(Time now, const JudgedVisit& visit);
  void open_watched(Time now, const TableWatch::Found& found);
  void recovered(PairId pair);
  /// Whose late visits are evidence.
  struct Wanted {
    bool waiting = false;                ///< of incidents without a place
    const Incident* incident = nullptr;  ///< of this one
  };

  void gather_visits(Time now, Time onset, const Wanted& wanted);
  /// True if a link was accused.
  bool vote_on_visits(Time now, Time onset, bool waiting);
  void accuse_by_visits(Time now);
  bool tables_were_clear(const Accusation& accusation) const;
  /// Does another pair that is late share a link with it?
  bool in_company(const Late& late, std::span<const Late> others) const;
  bool open_alone(Time now, const Late& late, std::span<const Late> others);
  void grow(Time now);
  void grow_one(Time now, const Growing& growing);
  /// Entries that come and go were there when the tables were read first.
  void read_tables_again(Time now, Growing& growing);

  // latency_queues.cpp
  /// An incident about a queue that comes back.
  struct Queue {
    IncidentIndex index = 0;
    LinkScore root;
  };

  /// `why`: the open incident that the late visit belongs to.
  void hear_queue(const JudgedVisit& visit, std::optional<IncidentIndex> why);
  void open_queue(Time now, const QueueWatch::Found& found);
  IncidentIndex claim_queue(Time now, const QueueWatch::Found& found);
  void describe_queue(Time now, const Queue& queue, const QueueWatch::Found& found);

  PipelineState* state_;
  UnderlayVote vote_;   ///< counts; ranks the links of one incident
  FaultSearch search_;  ///< which links together; the paper's configuration counts
  EvidenceTable evidence_;
  std::vector<Late> late_;  ///< of the last window or sweep, not yet explained, worst first
  std::vector<Held> held_;  ///< of the last window
  PagedColumn<PairId, std::uint8_t> late_windows_;  ///< late windows in a row
  PagedColumn<PairId, Seen> seen_;
  std::vector<Growing> growing_;
  std::vector<Suspicion> suspicions_;
  std::string vote_clear_text_;
  TableWatch table_watch_;
  QueueWatch queue_watch_;
  std::vector<Queue> queues_;  ///< open
};

}  // namespace bonescan
