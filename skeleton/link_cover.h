// Identifiability repair: the fewest more pairs, so that shared links can be told apart.
//
// Intuition: a skeleton is chosen for what a job uses, not for where its paths go.  A link that one
// probed path crosses looks like every other link that this path alone crosses.  A shared link (one
// between switches, which many pairs may use) wants two probed paths that differ elsewhere.
// Greedy, the candidate that repairs most links first, from a lazy heap: within ln(n) of the
// fewest.  Each way of a pair is a path; two ways through a link are distinguishable if they differ
// in another shared link.  The first and the last link of a way are its ends' own and not shared.
// Complexity: O(h log h) for h hops of all paths, and O(links of a path) a look at the heap.
// Invariants: 1. no candidate is taken that repairs nothing; 2. equal inputs give equal answers.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"

#include <span>
#include <vector>

namespace bonescan {

/// A pair whose path is known.
struct CoveringPair {
  PairId pair;
  const TracedPath* path = nullptr;
};

struct LinkCover {
  std::vector<PairId> extra;       ///< ascending
  std::size_t shared_links = 0;    ///< that the chosen pairs or the candidates cross
  std::size_t repaired = 0;        ///< links that `extra` brought to two distinguishable paths
  std::size_t not_repairable = 0;  ///< links for which no candidates are left
};

/// @param chosen      what is probed anyway
/// @param candidates  what could be probed as well
LinkCover repair_link_cover(std::span<const CoveringPair> chosen,
                            std::span<const CoveringPair> candidates);

}  // namespace bonescan
