// Searches for designs that work on any fabric of rules, however uneven.
//
// split_cover() is the greedy construction of pmc.h for alpha = beta = 1 without its list of
// candidates: uncovered links first, then links that still share their cell.  A path takes one link
// out of each of up to L cells.  About 0.44 n paths for L = 4, where the bound is 0.4 n.
//
// linear_cover() puts every link on at least `weight` paths, and any two links on at most one path
// in common.  That is enough for beta = weight - 1: if S and S' are different, both of at most beta
// links and with equal unions, take x in one and not in the other; each of the at most beta links
// of the other shares at most one path with x, so one of x's beta + 1 paths is not in the other
// union.
// @paper the property is that of superimposed codes (Kautz and Singleton 1964) @ours the use of it
// Complexity: paths x kTries x ways x L^2, a few microseconds a path and way.
#pragma once

#include "planner/matrix/design_space.h"
#include "planner/matrix/draws.h"
#include "planner/matrix/path_set.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

struct CoverDesign {
  std::vector<DesignPath> paths{};
  /// Links for which no more paths were found; what was asked for does not hold there.
  std::vector<std::uint32_t> unfinished{};
  bool complete = true;  ///< what was asked for holds
};

/// @param start  paths that are taken in any case
CoverDesign split_cover(const DesignSpace& space, std::vector<DesignPath> start, Draws& draws);

CoverDesign linear_cover(const DesignSpace& space, std::uint32_t weight, Draws& draws);

/// The same with a weight for each link, on top of paths that are taken in any case.
/// REQUIRES: `start` has the property.
CoverDesign linear_cover(const DesignSpace& space,
                         std::vector<std::uint32_t> weights,
                         std::vector<DesignPath> start,
                         Draws& draws);

/// Every path there is, if there are at most `most`.
std::optional<std::vector<DesignPath>> all_paths(const DesignSpace& space, std::uint64_t most);

/// construct_probe_matrix() (pmc.h) over all paths; nothing if there are too many of them or of
/// sets. For spaces too small for what the searches above do by chance.
std::optional<CoverDesign> listed_cover(const DesignSpace& space, const PmcGoal& goal);

}  // namespace bonescan
