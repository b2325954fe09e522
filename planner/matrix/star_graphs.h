// Designs for a star: one aggregation switch and T ToRs, whose paths are pairs of ToRs.
//
// A link is a vertex, a path an edge; two sets of links are told apart if different edges touch
// them.
//   beta = 1   a tree with at least three vertices tells all of them apart, a single edge or vertex
//              does not: a forest of trees of three, with T - floor(T / 3) edges, is the best.  A
//              remainder makes a chain of four, or two of them, or one of five
//   beta > 1   an edge between two vertices outside of S is what S does not touch.  S and S' with
//              equal unions and x in S' only: all neighbours of x are in S.  With more than beta
//              neighbours each (simple graph) that cannot be.  With beta = 2 neighbours the graph
//              is a union of cycles, and the collisions are triangles and quadrilaterals: one cycle
//              of five or more.  With beta = 3: x has S for its neighbours, and so has every vertex
//              of S' that is not in S; as S' has three vertices, these and S make a K(3,3), unless
//              S and S' share vertices, which then are neighbours of x and of each other's: a cycle
//              with its longest chords has neither from eight vertices on (a test tries all sizes)
//              Fewer than beta neighbours never do (fewest_paths), so beta T / 2 edges are the best
// @ours
#pragma once

#include "planner/matrix/path_set.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace bonescan {

/// Edges over leaves 0 ... leaves - 1.  Where leaves are too few for the goal, all pairs of them:
/// nothing more can be had.  One leaf has none.
/// Complexity: linear in edges.
std::vector<std::pair<std::uint32_t, std::uint32_t>> star_graph(std::uint32_t leaves,
                                                                const PmcGoal& goal);

}  // namespace bonescan
