#include "tools/evaluate/matching.h"

#include "detectors/telemetry/component.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace bonescan {
namespace {

/// Delay first; a misplaced match costs less than one nanosecond, so it only breaks ties.
Int128 cost_of(const MatchOption& option) {
  constexpr int kTieBits = 20;
  return (static_cast<Int128>(option.delay.count()) << kTieBits) + (option.placed ? 0 : 1);
}

/// Minimum-cost maximum matching by successive shortest augmenting paths.
class Matcher final {
 public:
  Matcher(std::size_t fault_count, std::size_t group_count, const std::vector<MatchOption>& options)
      : options_(options), option_of_fault_(fault_count), option_of_group_(group_count) {}

  std::vector<std::optional<std::size_t>> solve() {
    while (augment()) {
    }
    std::vector<std::optional<std::size_t>> group_of_fault(option_of_fault_.size());
    for (std::size_t f = 0; f < option_of_fault_.size(); ++f) {
      if (option_of_fault_[f]) {
        group_of_fault[f] = options_[*option_of_fault_[f]].group;
      }
    }
    return group_of_fault;
  }

 private:
  /// One more match along the cheapest path from a free fault to a free group; false if none is
  /// left.
  bool augment() {
    find_shortest_paths();
    std::optional<std::size_t> end;
    for (std::size_t g = 0; g < group_cost_.size(); ++g) {
      if (group_cost_[g] && !option_of_group_[g] &&
          (!end || *group_cost_[g] < *group_cost_[*end])) {
        end = g;
      }
    }
    if (!end) {
      return false;
    }
    std::size_t group = *end;
    for (;;) {
      const std::size_t taken = *last_option_[group];
      const std::size_t fault = options_[taken].fault;
      const std::optional<std::size_t> given_up = option_of_fault_[fault];
      option_of_fault_[fault] = taken;
      option_of_group_[group] = taken;
      if (!given_up) {
        return true;
      }
      group = options_[*given_up].group;
    }
  }

  /// Bellman-Ford over the alternating graph; a matching of least cost has no negative cycle.
  void find_shortest_paths() {
    group_cost_.assign(option_of_group_.size(), std::nullopt);
    last_option_.assign(option_of_group_.size(), std::nullopt);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t o = 0; o < options_.size(); ++o) {
        changed = relax(o) || changed;
      }
    }
  }

  bool relax(std::size_t o) {
    const MatchOption& option = options_[o];
    const std::optional<std::size_t> held = option_of_fault_[option.fault];
    if (held == o) {
      return false;
    }
    Int128 cost = cost_of(option);
    if (held) {
      const std::optional<Int128>& reach = group_cost_[options_[*held].group];
      if (!reach) {
        return false;
      }
      cost += *reach - cost_of(options_[*held]);
    }
    std::optional<Int128>& best = group_cost_[option.group];
    if (best && *best <= cost) {
      return false;
    }
    best = cost;
    last_option_[option.group] = o;
    return true;
  }

  const std::vector<MatchOption>& options_;
  std::vector<std::optional<std::size_t>> option_of_fault_;
  std::vector<std::optional<std::size_t>> option_of_group_;
  std::vector<std::optional<Int128>> group_cost_;
  std::vector<std::optional<std::size_t>> last_option_;
};

}  // namespace

std::vector<IncidentGroup> merge_incidents(const std::vector<Incident>& incidents, Duration gap) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < incidents.size(); ++i) {
    if (!incidents[i].planned) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(incidents[a].opened, incidents[a].id) <
           std::tie(incidents[b].opened, incidents[b].id);
  });

  struct Open {
    std::size_t group = 0;
    Time last_symptom;
  };

  std::vector<IncidentGroup> groups;
  std::map<ComponentId, Open> latest;
  for (const std::size_t i : order) {
    const Incident& incident = incidents[i];
    const Time last_symptom = std::max(incident.opened, incident.last_seen);
    if (incident.candidates.empty()) {
      groups.push_back({.members = {i}, .opened = incident.opened});
      continue;
    }
    const ComponentId named = incident.candidates.front().component;
    const auto found = latest.find(named);
    if (found != latest.end() && incident.opened - found->second.last_symptom < gap) {
      groups[found->second.group].members.push_back(i);
      found->second.last_symptom = std::max(found->second.last_symptom, last_symptom);
      continue;
    }
    groups.push_back({.members = {i}, .opened = incident.opened});
    latest.insert_or_assign(named, Open{.group = groups.size() - 1, .last_symptom = last_symptom});
  }
  return groups;
}

std::vector<std::optional<std::size_t>> match_one_to_one(std::size_t fault_count,
                                                         std::size_t group_count,
                                                         const std::vector<MatchOption>& options) {
  return Matcher(fault_count, group_count, options).solve();
}

}  // namespace bonescan
