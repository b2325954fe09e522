// The one shortest path that fits what the routers answered, or the proof that there is not one.
//
// Walks are counted over pairs (node, routers passed so far): the k-th router must be the one that
// answered to a TTL of k, a silent one may be any, and behind the last answer everything is open.
// Without answers this is the shortest path of the topology.  Two shortest walks mean that nobody
// can tell: no path is returned.
// A walk may come by a node twice only where routers answered like that, that is, in a routing
// loop. Complexity: O((answers + 1) * cables).
#pragma once

#include "detectors/backend_trace/topology.h"
#include "sim/base/error.h"

#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

struct CableStep {
  TopologyCableId cable;
  LinkDirection direction = LinkDirection::kUp;

  bool operator==(const CableStep&) const = default;
};

struct PathSearch {
  std::uint32_t path_count = 0;       ///< shortest ones that fit; bounded by kManyPaths
  std::vector<CableStep> steps;       ///< one of them: the answer if it is the only one
  std::vector<TopologyNodeId> nodes;  ///< where each step leads
};

constexpr std::uint32_t kManyPaths = 1'000'000;

/// `routers[k - 1]` answered to a TTL of k; invalid: nobody did.
PathSearch find_paths(const Topology& topology,
                      TopologyNodeId from,
                      TopologyNodeId to,
                      std::span<const TopologyNodeId> routers = {});

}  // namespace bonescan
