// What the RDMA counters of an RNIC count of its job.
//
// The job's own arithmetic says what it sends; whatever it sends by other means than RDMA (a
// fallback to TCP) is not in these counters.
#pragma once

#include "model/world.h"

namespace bonescan {

/// Bytes that the RNIC sends by RDMA for its job in [from, to]; 0 without a job.
double rdma_bytes(const World& world, RnicId rnic, Time from, Time to);

}  // namespace bonescan
