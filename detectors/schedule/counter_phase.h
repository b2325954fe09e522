// Counter-phased visits: the two ends of a pair probe it half a sweep apart.
//
// Intuition: a pair is visited twice a sweep, once from each end.  If both lists are shuffled, the
// two visits may fall together, and then a pair that breaks is not visited for a whole sweep.  Half
// a sweep apart, nobody waits longer than half a sweep.
//
// Method: pairs are the edges of a graph.  A walk over all edges gives every edge a direction so
// that as many leave each source as come in, give or take one (Euler).  Those that leave are
// visited in the first half of a list, those that come in in the second.  A colouring of the
// directed edges, no colour twice at one source and none twice at one target, says in which place:
// an edge of colour c is the c-th visit of its one end and the c-th after half a list of its other
// (König: as many colours as edges at one vertex are enough).  Where all lists are equally long and
// symmetric this is exact for even lengths and one place off for odd ones; elsewhere lists are
// sorted by the same keys, and the places differ by as much as the lists do.
//
// Invariants: 1. every list keeps its targets; 2. who is listed one way only comes last; 3. equal
// lists give equal orders.  Complexity: edges times the longest list, in the worst case; lists of
// more than kMostCounterPhased pairs stay as they are.  Pure.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "skeleton/rail_pairs.h"

#include <cstddef>
#include <span>

namespace bonescan {

/// Directed pairs of one call. @ours a rail of a thousand RNICs takes under a second
constexpr std::size_t kMostCounterPhased = 2'000'000;

/// Reorders `lists`, which belong to `members`.  REQUIRES: members ascend; no doubles in a list.
void counter_phase(std::span<const EndpointId> members, PingLists& lists);

}  // namespace bonescan
