// deTector's probe matrix on any fabric of rules: the paths, and the RNICs that probe them.
//
// Which construction is used, by shape (METHODS.md has proofs and measured sizes):
//   links between switches, two tiers   a star per aggregation switch: star_graphs.h
//   ..., three tiers, even pods         one component, used for every aggregation switch of a pod:
//                                       pod_rounds.h; for alpha = beta = 1 one round and
//                                       split_cover
//   ..., three tiers otherwise          one component by split_cover or linear_cover (covers.h)
//   access links too                    in one piece: triples or a ring (access_designs.h) finished
//   by
//                                       split_cover or linear_cover, or linear_cover alone
//   where a search did not end well     all paths, if they are few (listed_cover)
// A component between switches is probed by RNICs below its ToRs in turn.
// The paths are pinned: the probe names its way, and the answer comes back the same way.
// @paper Peng et al. 2017: source-routed probes
#pragma once

#include "planner/matrix/design_space.h"
#include "planner/matrix/path_set.h"
#include "sim/base/error.h"

#include <cstdint>
#include <vector>

namespace bonescan {

struct DetectorOptions {
  PmcGoal goal{};
  LinkScope scope = LinkScope::kSwitchLinks;
  std::uint64_t seed = 1;
};

struct DetectorPath {
  RnicId source;
  RnicId target;
  WayChoice way;
};

struct DetectorDesign {
  std::vector<DetectorPath> paths;
  PathSet links;                ///< by path: what it crosses of `cables`
  std::vector<CableId> cables;  ///< by link of `links`: those in scope that any path could cross
  /// Does the goal hold?  If not, no path was found that would help, and maybe there is none.
  bool complete = true;
  std::uint64_t fewest = 0;  ///< no design has fewer paths; by tiers of links, see METHODS.md
};

/// The switches of a fat tree whose switches have `radix` ports, as three tiers with one rail.
/// REQUIRES: radix is even, 4 at least.
FabricOptions fat_tree_options(std::uint32_t radix);

/// @errors kUnavailable for graphs, kInvalid if beta > 3
Expected<DetectorDesign> detector_paths(const Fabric& fabric, const DetectorOptions& options);

}  // namespace bonescan
