// An independent judge of chosen paths: what is covered, and what can be told apart.  Exact.
//
// It shares no code with whatever chose the paths.  Two sets of links are told apart if the unions
// of the paths that cross them differ.
// Sets are tried within components (links that chosen paths join) only.  That is enough: the paths
// of two components are disjoint, so if S and S' are different sets of at most beta links with
// equal unions, then for every component K the parts S in K and S' in K have equal unions, both
// have at most beta links, and in some K they differ: the pair is found there, with the empty set
// among the candidates.  Conversely a pair found within K is a pair.  Links on no path at all
// collide with the empty set. Unions are sorted by a hash and compared in full where hashes agree.
// Complexity: beta = 1 sorts all links; beta = 2, 3 tries all sets of a component of n links, each
// with an OR of p / 64 words for its p paths, in n^beta / beta! rows of 16 bytes.
#pragma once

#include "planner/matrix/path_set.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace bonescan {

struct CoverageCheck {
  std::uint32_t links = 0;            ///< all
  std::uint32_t covered = 0;          ///< on at least one path
  std::uint32_t distinguishable = 0;  ///< covered, and no other link is on exactly the same paths
  std::uint32_t classes = 0;          ///< sets of covered links that are on the same paths
  std::uint32_t least_cover = 0;      ///< alpha: paths through the link that has fewest
  std::uint32_t longest_path = 0;     ///< links
};

CoverageCheck check_coverage(const PathSet& paths);

/// Two sets of links that leave the same pattern; ascending.
struct IndistinctSets {
  std::vector<std::uint32_t> one;
  std::vector<std::uint32_t> other;
};

/// The first counterexample to beta-identifiability; none if there is none.
/// REQUIRES: beta is 1, 2 or 3.
std::optional<IndistinctSets> find_indistinct(const PathSet& paths, std::uint32_t beta);

}  // namespace bonescan
