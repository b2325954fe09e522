// Ping lists made before anything is known about a job's traffic: same rail, or everybody.
//
// Collective libraries keep bulk traffic on one rail, so a preloaded list drops cross-rail pairs,
// an eightfold cut on hosts with eight RNICs.  Each source gets its list in a permutation of its
// own: with a common order all sources would meet one target in the same second and then leave it
// alone for a whole sweep.
// Invariants: 1. lists are indexed by source, counted from the first endpoint of the range, one for
// every endpoint of it; that of an endpoint which this process cannot send from is empty; 2. a list
// holds no endpoint of the source's own host, of another task or from outside the range (a task
// that comes back under its old name is another one), and no doubles; 3. of two local endpoints `b`
// is in the list of `a` exactly if `a` is in the list of `b`; 4. the lists follow from ids, names
// and seed.
#pragma once

#include "detectors/telemetry/endpoint.h"

#include <cstdint>
#include <vector>

namespace bonescan {

/// Targets by the index of their source in its range.
using PingLists = std::vector<std::vector<EndpointId>>;

/// Every endpoint of the same task and rail on another host.
/// @paper SkeletonHunter, preloaded basic list
PingLists same_rail_targets(const EndpointDirectory& directory,
                            EndpointRange range,
                            std::uint64_t seed);
PingLists same_rail_targets(const EndpointDirectory& directory, std::uint64_t seed);

/// Every endpoint of the same task on another host.
PingLists full_mesh_targets(const EndpointDirectory& directory,
                            EndpointRange range,
                            std::uint64_t seed);
PingLists full_mesh_targets(const EndpointDirectory& directory, std::uint64_t seed);

/// Directed pairs that the two kinds of lists hold, without making them.
std::uint64_t same_rail_pair_count(const EndpointDirectory& directory, EndpointRange range);
std::uint64_t full_mesh_pair_count(const EndpointDirectory& directory, EndpointRange range);

/// Directed pairs in all lists together.
std::uint64_t pair_count(const PingLists& lists);

}  // namespace bonescan
