// Probe matrix construction: few paths out of many that cover links and tell their failures apart.
//
// Intuition: all sets of at most beta links (the empty one too) begin in one cell.  A path splits a
// cell if it crosses some of its members and not all; then those that it crosses leave into a cell
// of their own.  When every cell has one member, whatever fails leaves a pattern of its own.  Take
// the path that splits most cells; among equals the one whose links are covered least.
// A heap keeps each path with the score it had when it was looked at last.  A path that splits
// nothing never will again, as cells only get finer, and is dropped: the search ends.  A path that
// has come to split more than its score says waits longer than it should, which costs quality and
// never correctness.
// Components (links that no candidate joins) are solved one by one.
// Complexity: O(p L n^(beta - 1)) memory at worst per component for n links, p paths of L links,
// and that much again for every look at all paths.  For symmetric fabrics see detector_paths.h.
// @paper Peng et al., deTector, USENIX ATC 2017 (algorithm in words)
#pragma once

#include "planner/matrix/path_set.h"
#include "sim/base/error.h"

#include <cstdint>
#include <vector>

namespace bonescan {

struct PmcResult {
  std::vector<std::uint32_t> chosen{};  ///< paths, ascending
  bool covered = false;                 ///< every link that any candidate crosses, alpha times
  bool identifiable = false;            ///< every set of at most beta of those links
  std::uint32_t components = 0;
};

/// @errors kInvalid if beta > 3, or a component has more than 4 million sets of at most beta links
Expected<PmcResult> construct_probe_matrix(const PathSet& candidates, const PmcGoal& goal);

/// No choice of paths with at most `longest` links each (and at least two, for beta > 1) can do
/// with fewer: alpha n / L by counting; 2 n / (L + 1) for beta = 1, as at most one link of a path
/// may be covered by that path alone; beta n / L for beta > 1, as a link on fewer than beta paths
/// hides behind one other link of each of them.
/// @paper Peng et al. 2017 for beta = 1 on fat trees; @ours the others
std::uint64_t fewest_paths(std::uint64_t links, std::uint64_t longest, const PmcGoal& goal);

}  // namespace bonescan
