// A tenant's container on a host: when it exists, when it is ready, and its agent.
//
//   Scheduled -> Pulling -> Starting -> Ready -> Stopping -> Gone
//
// Containers of one task change state minutes apart.  A container binds RNICs of its host (one
// virtual function each) and runs one agent that probes from all of them.  Containers of a
// scenario's jobs, which are described here, bind every RNIC of their host unless the job says
// otherwise; those of the cloud (cloud.h) may bind fewer.
#pragma once

#include "model/fabric/fabric.h"
#include "model/workload/job.h"
#include "sim/base/units.h"

#include <cstdint>

namespace bonescan {

enum class ContainerState : std::uint8_t {
  kScheduled,
  kPulling,
  kStarting,
  kReady,
  kStopping,
  kGone,
  kCrashed,  ///< unannounced; the platform has not noticed yet
};

struct Container {
  HostId host;
  JobId job;
  ContainerState state = ContainerState::kScheduled;
  Time ready_at;
  std::uint32_t first_rail = 0;  ///< of its RNICs
  std::uint32_t width = 0;       ///< how many it binds
};

/// Delays that make some containers of a job late.
struct LateStartOptions {
  double share = 0.0;
  Duration delay{};
};

/// When each container of a job (by position) becomes ready; drawn per position by seed.
Time draw_ready_time(const JobOptions& job,
                     const LateStartOptions& late,
                     JobId id,
                     std::uint32_t position,
                     std::uint64_t seed);

}  // namespace bonescan
