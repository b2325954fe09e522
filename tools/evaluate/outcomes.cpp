#include "tools/evaluate/outcomes.h"

#include "tools/evaluate/matching.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace bonescan {
namespace {

/// The host of "type name", as TruthRow::equivalent has it.
std::string_view host_of_part(std::string_view type_and_name) {
  const std::size_t space = type_and_name.find(' ');
  return host_in(space == std::string_view::npos ? type_and_name : type_and_name.substr(space + 1));
}

/// Longer than any run, and far from overflow.
constexpr Duration kForever = std::chrono::hours(24 * 365);

/// A pair of endpoints whatever the direction: the answers of one are the requests of the other.
using EndpointPair = std::pair<EndpointId, EndpointId>;
using EndpointPairs = std::vector<EndpointPair>;  // sorted, unique

EndpointPair undirected(const Pair& pair) {
  return std::minmax(pair.source, pair.target);
}

EndpointPairs sorted_unique(EndpointPairs pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

bool share_a_pair(const EndpointPairs& a, const EndpointPairs& b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (*i == *j) {
      return true;
    }
    *i < *j ? ++i : ++j;
  }
  return false;
}

/// A killed run has no summary, so the longest list is counted from the pairs it probed.
Duration sweep_of(const RunData& run) {
  if (run.result.sweep_s > 0) {
    return from_seconds(run.result.sweep_s);
  }
  std::map<EndpointId, std::int64_t> targets;
  std::int64_t longest = 0;
  for (const Pair& pair : run.pairs) {
    longest = std::max(longest, ++targets[pair.source]);
  }
  return run.info.visit * longest;
}

MatchingRules rules_of(const RunData& run) {
  const Duration floor = std::chrono::seconds(30);
  return MatchingRules{.abrupt_deadline = std::max(floor, 2 * sweep_of(run) + run.info.window)};
}

class Judge final {
 public:
  explicit Judge(const RunData& run)
      : run_(run),
        rules_(rules_of(run)),
        groups_(merge_incidents(run.incidents, rules_.merge_gap)),
        faults_(run.truth.size()),
        incidents_(run.incidents.size()) {}

  Evaluation judge() {
    for (std::size_t i = 0; i < run_.incidents.size(); ++i) {
      if (run_.incidents[i].planned) {
        incidents_[i] = {.status = IncidentStatus::kPlanned};
      }
    }
    for (const IncidentGroup& group : groups_) {
      for (std::size_t i = 1; i < group.members.size(); ++i) {
        incidents_[group.members[i]] = {.status = IncidentStatus::kMerged,
                                        .merged_into = group.members.front()};
      }
    }
    if (run_.info.truth_available) {
      gather_pairs();
      prepare_faults();
      match();
      judge_unmatched_faults();
      judge_unmatched_groups();
    }
    Evaluation evaluation;
    evaluation.matching = rules_;
    evaluation.faults = std::move(faults_);
    evaluation.incidents = std::move(incidents_);
    return evaluation;
  }

 private:
  const Incident& first(const IncidentGroup& group) const {
    return run_.incidents[group.members.front()];
  }

  bool is_agent(const IncidentGroup& group) const { return first(group).layer == Layer::kAgent; }

  void gather_pairs() {
    for (const IncidentGroup& group : groups_) {
      EndpointPairs pairs;
      for (const std::size_t member : group.members) {
        for (const PairId pair : run_.incidents[member].pairs) {
          if (run_.pairs.contains(pair)) {
            pairs.push_back(undirected(run_.pairs[pair]));
          }
        }
      }
      group_pairs_.push_back(sorted_unique(std::move(pairs)));
    }
    for (const TruthRow& truth : run_.truth) {
      EndpointPairs pairs;
      std::transform(truth.pairs.begin(), truth.pairs.end(), std::back_inserter(pairs), undirected);
      fault_pairs_.push_back(sorted_unique(std::move(pairs)));
    }
  }

  void prepare_faults() {
    for (std::size_t f = 0; f < faults_.size(); ++f) {
      const TruthRow& truth = run_.truth[f];
      FaultOutcome& outcome = faults_[f];
      outcome.deadline = rules_.abrupt_deadline;
      if (truth.layer == Layer::kAgent) {
        outcome.status = FaultStatus::kAgentDeath;
        continue;
      }
      if (truth.host_visible && !truth.visible) {
        outcome.by_host = true;
        outcome.deadline = rules_.host_deadline;
        continue;
      }
      const double gray_s = rules_.gray_bound_factor * truth.information_bound_s;
      if (truth.symptom == Symptom::kLoss && gray_s > seconds(rules_.abrupt_deadline)) {
        outcome.gray = true;
        outcome.deadline = from_seconds(std::min(gray_s, seconds(kForever)));
      }
    }
  }

  /// What no probe sees differs from its twin nowhere: then the injection counts.
  std::optional<Time> time_zero(std::size_t fault) const {
    const TruthRow& truth = run_.truth[fault];
    return faults_[fault].by_host ? std::optional(truth.injected) : truth.time_zero;
  }

  /// Does a host's finding name the host, or a part of it, whose own report would show the fault?
  /// Of a switch these are the hosts at its cables.
  bool told_by_host(std::size_t fault, std::size_t group) const {
    const Incident& incident = first(groups_[group]);
    if (incident.layer != Layer::kHost || !run_.truth[fault].host_visible ||
        incident.candidates.empty()) {
      return false;
    }
    const Component* named = find_component(run_.components, incident.candidates.front().component);
    if (named == nullptr || named->name.empty()) {
      return false;
    }
    const std::string_view host = host_in(named->name);
    const TruthRow& truth = run_.truth[fault];
    return host == host_in(truth.component) ||
           std::any_of(truth.equivalent.begin(),
                       truth.equivalent.end(),
                       [&](const std::string& part) { return host == host_of_part(part); });
  }

  /// Do they speak of the same pairs, or of the same host?
  bool related(std::size_t fault, std::size_t group) const {
    return told_by_host(fault, group) || share_a_pair(fault_pairs_[fault], group_pairs_[group]);
  }

  /// Whether the group opens inside the fault's match window and is related to it.
  bool could_match(std::size_t fault, std::size_t group) const {
    const std::optional<Time> zero = time_zero(fault);
    const Time opened = groups_[group].opened;
    return zero && opened >= *zero && opened <= *zero + faults_[fault].deadline &&
           related(fault, group);
  }

  void match() {
    std::vector<MatchOption> options;
    for (std::size_t f = 0; f < faults_.size(); ++f) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (faults_[f].status == FaultStatus::kAgentDeath || is_agent(groups_[g]) ||
            !could_match(f, g)) {
          continue;
        }
        const auto placed = judge_placement(first(groups_[g]), run_.components, run_.truth[f]);
        options.push_back({.fault = f,
                           .group = g,
                           .delay = groups_[g].opened - *time_zero(f),
                           .placed = placed.placement == Placement::kCorrect});
      }
    }
    const auto found = match_one_to_one(faults_.size(), groups_.size(), options);
    for (std::size_t f = 0; f < faults_.size(); ++f) {
      if (!found[f]) {
        continue;
      }
      const IncidentGroup& group = groups_[*found[f]];
      FaultOutcome& outcome = faults_[f];
      outcome.status = FaultStatus::kDetected;
      outcome.incident = group.members.front();
      outcome.time_to_detect_s = seconds(group.opened - *time_zero(f));
      outcome.placement = judge_placement(first(group), run_.components, run_.truth[f]);
      incidents_[group.members.front()] = {.status = IncidentStatus::kMatched, .fault = f};
    }
  }

  void judge_unmatched_faults() {
    for (std::size_t f = 0; f < faults_.size(); ++f) {
      FaultOutcome& outcome = faults_[f];
      if (outcome.status != FaultStatus::kUndecided || !decided(f)) {
        continue;
      }
      outcome.status = FaultStatus::kMissed;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        outcome.hidden_by_agent_death |= is_agent(groups_[g]) && could_match(f, g);
      }
    }
  }

  bool decided(std::size_t fault) const {
    const TruthRow& truth = run_.truth[fault];
    if (truth.injected >= run_.result.reached) {
      return false;
    }
    return run_.result.complete ||
           (time_zero(fault) && *time_zero(fault) + faults_[fault].deadline < run_.result.reached);
  }

  void judge_unmatched_groups() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      IncidentOutcome& outcome = incidents_[groups_[g].members.front()];
      if (outcome.status == IncidentStatus::kMatched) {
        continue;
      }
      if (is_agent(groups_[g])) {
        outcome = {.status = IncidentStatus::kAgentDeath, .fault = agent_death_of(g)};
      } else if (const auto repeated = latest_cause(g, FaultStatus::kDetected)) {
        outcome = {.status = IncidentStatus::kDuplicate, .fault = repeated};
      } else if (const auto pending = pending_cause(g)) {
        outcome = {.status = IncidentStatus::kUndecided, .fault = pending};
      } else {
        const auto missed = latest_cause(g, FaultStatus::kMissed);
        outcome = {
            .status = IncidentStatus::kFalsePositive, .fault = missed, .late = missed.has_value()};
      }
    }
  }

  /// From injection until one deadline after the end.
  bool during(std::size_t fault, Time opened) const {
    const TruthRow& truth = run_.truth[fault];
    return opened >= truth.injected &&
           (!truth.ended || opened <= *truth.ended + faults_[fault].deadline);
  }

  /// The last injected fault of this status that would explain the group, had it been free or in
  /// time.
  std::optional<std::size_t> latest_cause(std::size_t group, FaultStatus status) const {
    std::optional<std::size_t> latest;
    for (std::size_t f = 0; f < faults_.size(); ++f) {
      if (faults_[f].status == status && during(f, groups_[group].opened) && related(f, group) &&
          (!latest || run_.truth[f].injected >= run_.truth[*latest].injected)) {
        latest = f;
      }
    }
    return latest;
  }

  /// In a cut run a fault without time zero may yet turn out to be what the incident saw.
  std::optional<std::size_t> pending_cause(std::size_t group) const {
    for (std::size_t f = 0; f < faults_.size() && !run_.result.complete; ++f) {
      if (faults_[f].status == FaultStatus::kUndecided && !run_.truth[f].time_zero &&
          during(f, groups_[group].opened) &&
          (fault_pairs_[f].empty() || share_a_pair(fault_pairs_[f], group_pairs_[group]))) {
        return f;
      }
    }
    return std::nullopt;
  }

  /// The true death that an agent incident tells of, by the component it names.
  std::optional<std::size_t> agent_death_of(std::size_t group) {
    const Incident& incident = first(groups_[group]);
    for (std::size_t f = 0; f < faults_.size(); ++f) {
      const TruthRow& truth = run_.truth[f];
      if (faults_[f].status != FaultStatus::kAgentDeath || faults_[f].incident ||
          !during(f, incident.opened) || incident.candidates.empty()) {
        continue;
      }
      const Component* named =
          find_component(run_.components, incident.candidates.front().component);
      if (named != nullptr && *named == Component{truth.component_type, truth.component}) {
        faults_[f].incident = groups_[group].members.front();
        return f;
      }
    }
    return std::nullopt;
  }

  const RunData& run_;
  MatchingRules rules_;
  std::vector<IncidentGroup> groups_;
  std::vector<FaultOutcome> faults_;
  std::vector<IncidentOutcome> incidents_;
  std::vector<EndpointPairs> group_pairs_;
  std::vector<EndpointPairs> fault_pairs_;
};

}  // namespace

Evaluation judge_outcomes(const RunData& run) {
  return Judge(run).judge();
}

}  // namespace bonescan
