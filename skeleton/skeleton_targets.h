// Ping lists of one task, from what is known about its traffic.
//
// A skeleton says who belongs together and how far to trust that; this turns it into lists of
// targets.  A stage's neighbours are taken round a ring, first and last stage included: interleaved
// schedules do send from the last stage to the first, and the order of bursts may start at any.
// Whoever is unsure goes up the ladder: a scope whose stages or replicas are not given for every
// member gives the lists of the next wider scope.
// Invariants: 1. one list a member, in the order of the members; that of a member which this
// process cannot send from is empty; 2. lists ascend, and hold no endpoint of the source's own
// host, none from outside of the task, and no doubles; 3. of two local members `b` is in the list
// of `a` exactly if `a` is in the list of `b`; 4. the lists of a rung hold those of the one below
// it where both follow from the same stages.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "skeleton/rail_pairs.h"
#include "skeleton/task_skeleton.h"

#include <span>

namespace bonescan {

/// REQUIRES: members ascend, all of one task.
/// Complexity: members squared.
PingLists skeleton_targets(const EndpointDirectory& directory,
                           std::span<const EndpointId> members,
                           const TaskSkeleton& skeleton);

}  // namespace bonescan
