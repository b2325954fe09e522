// Designs for a component of a fat tree in which every link lies on exactly `rounds` paths.
//
// A component has `pods` pods with m edge links and m core links each: one aggregation switch per
// pod, m ToRs below and m core switches above it.  A path joins two pods over a core switch and
// crosses one edge link and one core link in each.  A round is a perfect matching of the pods for
// every core switch, and in every pod a bijection of core switches to ToRs: it covers each link
// once with a quarter as many paths as there are links, which no cover can beat.
//
// What tells links apart is what short cycles of links and paths are missing from the design:
//   no 4-cycle   two links share at most one path; then r rounds are (r - 1)-identifiable
//   (covers.h)
//                and two rounds tell single links apart
//   r = 2        a link is an edge between its two paths.  Two sets of at most two edges touch the
//                same paths only within a triangle (6-cycle) or as the two perfect matchings of a
//                quadrilateral (8-cycle): without those, two rounds are 2-identifiable
//   r = 3        let S and S' have at most three links and equal unions, x in S' only.  Each of its
//                three paths is in S by a link of its own, so S has three links, and so has S'.
//                Having a link z in common gives a triangle of z and others (z, x and y in S only,
//                which meets x and z in different paths, as no two share two); having none makes
//                every link of one cross every link of the other: a grid of nine paths.  Without
//                4-cycles, 6-cycles and grids three rounds are 3-identifiable
// As beta-identifiability needs beta paths for every link (fewest_paths), these are the fewest.
//
// The matchings are the classical factors of a complete graph, r neighbouring ones for each
// core switch (two neighbouring ones make one cycle of all pods).  The bijections begin at random;
// while a link lies on a forbidden cycle, it swaps its ToR with another path of its pod.
// Complexity: linear in links; some tens of swaps in all, since a random design has some tens of
// short cycles however large it is.
// @paper factors: the round-robin tournament (Kirkman 1847) @ours the rest
#pragma once

#include "planner/matrix/draws.h"
#include "planner/matrix/path_set.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

struct PodPath {
  std::uint32_t pod1 = 0;
  std::uint32_t edge1 = 0;
  std::uint32_t pod2 = 0;
  std::uint32_t edge2 = 0;
  std::uint32_t core = 0;
};

/// @param links_per_pod  m
/// @param rounds         1 ... pods - 1
/// @param beta           at most `rounds`; 0: coverage alone; 1 needs two rounds
/// ENSURES: nothing if pods are odd in number, or too few for such a design to be found
std::optional<std::vector<PodPath>> pod_rounds(std::uint32_t pods,
                                               std::uint32_t links_per_pod,
                                               std::uint32_t rounds,
                                               std::uint32_t beta,
                                               Draws& draws);

/// Edge links first, pod by pod, then core links.
PathSet pod_links(std::uint32_t pods,
                  std::uint32_t links_per_pod,
                  const std::vector<PodPath>& paths);

}  // namespace bonescan
