// The fewest paths that access links need, as a start for the searches of covers.h.
//
// triples() is for alpha = beta = 1: access cables in threes, the middle one joined to both others.
// Of three cables on two paths every one is told apart, and no design does with fewer: 2 / 3 a
// cable.
//
// ring() is for beta = 2: all access cables of a pool in one ring, each on the two paths to its
// neighbours, which no design beats either (fewest_paths).  Paths next to each other, and next but
// one, go over different aggregation switches; any two links have at most one path in common.  With
// three paths for every other link that is 2-identifiable:  let S and S' have at most two links and
// equal unions, x in S' only.  Each path of x is in S by a link of its own, so x has two paths and
// is an access link, and S = {y1, y2}.  One of S is not in S', y1 say, and by the same reason it is
// an access link with two paths, one over x: x and y1 are neighbours in the ring.  If y2 is in S'
// too, it has the other path of x and the other one of y1.  An access link does not, in a ring of
// more than three; a link between switches does not, as these two paths are next but one to each
// other and share no aggregation switch.  If y2 is not in S', it is as y1 is, and so is the other
// link of S': a ring of four.
// @ours
#pragma once

#include "planner/matrix/covers.h"

#include <optional>
#include <vector>

namespace bonescan {

/// REQUIRES: access links are measured.  Ends that found no partner are left out.
std::vector<DesignPath> triples(const DesignSpace& space, Draws& draws);

/// Nothing if there are fewer than five aggregation switches or ends, or no such ring was found.
/// REQUIRES: access links are measured.
std::optional<std::vector<DesignPath>> ring(const DesignSpace& space, Draws& draws);

}  // namespace bonescan
