// Sends follow-up probes where an incident leaves something open, and acts on what they say.
//
// An open incident of the underlay, or one that no stage could place, gets a case: the pair of it
// that lost most is probed from other ports, with another size and another DSCP, beside a control;
// and where several links are suspected, flows are tried that cross some of them.  What is found is
// a line of evidence, and suspects that are cleared leave the incident for good.
// Invariants: 1. no more probes per visit period than the budget, no more rounds per incident than
// the options say; 2. a follow-up visit never reaches windows, streaks, ledgers or the path book;
// 3. what is asked follows from what was observed alone, so a replay asks the same.
// Internal to detectors/pipeline; thread-compatible.
#pragma once

#include "detectors/localize/follow_up.h"
#include "detectors/pipeline/pipeline_state.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bonescan {

class FollowUpStage final {
 public:
  explicit FollowUpStage(PipelineState& state) : state_(&state) {}

  /// Appends extra visits of the period that begins now, after the planned ones.
  void plan(Time now, std::vector<ProbeRequest>& requests);

  /// Takes a visit that is no planned one; false: it is, and belongs to the others.
  bool observe(const Visit& visit, std::span<const std::uint32_t> rtts);

  /// End of a round, after the other stages: opens cases, reads what came in, updates incidents.
  void run(Time now);

  /// Forgets pairs of an ended task.
  void release(PairRange pairs);

 private:
  struct Asked {
    FollowUp probe;
    std::optional<TracedPath> path;
    Time batch;  ///< when it was planned: its control has the same
    bool answered = false;
    std::uint32_t trials = 0;
    std::uint32_t lost = 0;
    std::uint32_t median_ns = 0;  ///< of the answered; 0: none was
  };

  /// What an incident's follow-ups have found so far.
  struct Case {
    IncidentIndex incident = 0;
    PairId pair;  ///< the failing one
    std::size_t rounds = 0;
    bool done = false;
    bool varied = false;                  ///< another round of variations would add nothing
    std::vector<FollowUpChoice> waiting;  ///< not sent yet; without hops: not traced
    std::vector<Asked> asked;
    std::size_t judged = 0;             ///< how many of these the last judgement has seen
    std::vector<FollowUpChoice> ports;  ///< other ports of the pair, traced
    std::uint32_t next_port = 0;        ///< index of the port that is traced next
    FollowUpFinding finding{};
    std::string told;  ///< the last line of evidence
  };

  /// A rate of the control above which one visit of each variation says all. @ours
  static constexpr double kPlainRate = 0.5;

  bool enabled() const;
  void open_cases(Time now);
  /// The incident's pair that lost most lately; invalid if none of them is probed now.
  PairId worst_pair(const Incident& incident) const;
  FollowUp normal_probe(PairId pair) const;
  std::vector<Suspect> suspects_of(const Case& one) const;
  void begin_round(Case& one, Time now);
  void trace_ports(Case& one, Time now);
  std::vector<std::uint16_t> same_path_ports(const Case& one) const;
  void add(Case& one, std::span<const FollowUp> probes) const;
  void add_sizes(Case& one) const;
  void add_split(Case& one) const;
  void add_other_pairs(const std::vector<Suspect>& suspects,
                       std::vector<FollowUpChoice>& choices) const;
  void send(Case& one, Time now, std::vector<ProbeRequest>& requests);
  static bool lost_most(const Asked& asked);
  bool complete(const Case& one, Time now) const;
  std::vector<FollowUpResult> results_of(const Case& one) const;
  void add_planned(const Case& one,
                   const std::vector<Suspect>& suspects,
                   std::vector<FollowUpResult>& results) const;
  void judge(Case& one, Time now);
  void clear_suspects(const Case& one);
  /// Other ports of the pair that fail like its own; 0 if any passes.
  std::size_t ports_that_fail(const Case& one) const;
  /// Do other pairs pass over each link of the pair's path in health?
  bool others_clear_every_link(const Case& one) const;
  /// Does one pair lose most of what it sends, whatever is sent, over links that are healthy?
  bool dead_alone(const Case& one) const;
  /// Asks for ports that go anywhere, where too few were tried for blame_ends().
  void add_other_ports(Case& one) const;
  /// Places a pair that no link explains at the bridges of its two ends.
  void blame_ends(const Case& one, Time now);
  void tell(Case& one, Time now, bool clear, const std::string& text);

  PipelineState* state_;
  std::vector<Case> cases_;  ///< of open incidents, in the order of their opening
  std::size_t probes_left_ = 0;
  std::size_t traces_left_ = 0;
  std::size_t sent_ = 0;  ///< in this period
};

}  // namespace bonescan
