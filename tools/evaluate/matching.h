// Which incident found which fault: merging of incidents and one-to-one matching.
//
// Intuition: an operator who is called twice for one thing was called once too often, and one call
// finds one fault.  Incidents that name one component with less than a minute between them are one
// group; groups and faults are matched one to one so that the number of matches is largest, then
// the sum of times to detect is smallest, then (a true tie) as many as possible are well placed.
// Rough model: successive shortest augmenting paths; O(matches x groups x edges) at worst, and
// edges are few because a group can match only faults that began shortly before it.
#pragma once

#include "detectors/records/incident.h"
#include "sim/base/units.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan {

/// Incidents that count as one.
struct IncidentGroup {
  std::vector<std::size_t> members;  ///< indices of incidents, by opening time; never empty
  Time opened;                       ///< of the first member
};

/// Groups by opening time.  Two incidents are one if they name the same component and the later one
/// opens less than `gap` after the last symptom of the earlier.  Incidents that name nothing stay
/// alone; planned ones are in no group.
std::vector<IncidentGroup> merge_incidents(const std::vector<Incident>& incidents, Duration gap);

/// "Group `group` may be the discovery of fault `fault`."
struct MatchOption {
  std::size_t fault = 0;
  std::size_t group = 0;
  Duration delay{};     ///< opening of the group minus time zero, not negative
  bool placed = false;  ///< the group names the fault's component correctly
};

/// For every fault the group that found it.  Deterministic in the order of `options`.
std::vector<std::optional<std::size_t>> match_one_to_one(std::size_t fault_count,
                                                         std::size_t group_count,
                                                         const std::vector<MatchOption>& options);

}  // namespace bonescan
