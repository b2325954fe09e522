// The flows of a job between RNICs, as offered load: rings of gradients and pipelines of stages.
//
// Asks the job for its hosts and for whom each RNIC sends to, and nothing else, so that any layout
// and placement will do.  An RNIC sends gradients to the next data-parallel rank of its ring while
// its stage is in a burst, and to both neighbouring stages all the time.  Every pair is one
// five-tuple with a source port of its own, so switches spread the flows as they spread any.
#pragma once

#include "model/fabric/fabric.h"
#include "model/workload/job.h"

#include <cstdint>
#include <vector>

namespace bonescan {

struct JobFlow {
  RnicId source;
  RnicId target;
  TrafficKind kind = TrafficKind::kNone;
  std::uint32_t stage = 0;        ///< of the source
  double share = 1.0;             ///< of the unit of its kind (peer_graph.h)
  double bytes_per_second = 0.0;  ///< while it is active
};

/// In the order of the job's hosts and rails; neighbours on one host exchange nothing here.
std::vector<JobFlow> job_flows(const Job& job, const Fabric& fabric);

/// Source port of the job's flow between two RNICs.
std::uint16_t job_flow_port(std::uint64_t seed, const Fabric& fabric, RnicId source, RnicId target);

}  // namespace bonescan
