// What of the things that are no failures happens when and where in one run.
//
// Pure functions of (options, fabric, seed, length of the run): a loader asks the same function
// that the run asks, so that planned work and the window that declares it cannot differ.  Every
// class of things has a stream of its own; turning one on moves nobody else's.
// Thread-safe.
#pragma once

#include "faults/confounder_options.h"
#include "model/fabric/component_ref.h"
#include "model/fabric/fabric.h"
#include "model/workload/job_options.h"
#include "sim/base/units.h"

#include <cstdint>
#include <vector>

namespace bonescan {

struct AgentOutage {
  Duration at{};
  Duration length{};
  HostId host;
};

struct CongestionBurst {
  Duration at{};
  Duration length{};
  Duration queue_mean{};
  LinkId link;
};

/// From then on the switch spreads flows by another salt.
struct Rehash {
  Duration at{};
  SwitchId id;
  std::uint64_t salt = 0;
};

/// The component is down for all of it.
struct PlannedWork {
  Duration at{};
  Duration length{};
  ComponentRef on;  ///< a host or a cable
};

/// Crashes at their rate per host, and rolling upgrades, on these hosts.
std::vector<AgentOutage> plan_agent_outages(const ConfounderOptions& options,
                                            const std::vector<HostId>& hosts,
                                            std::uint64_t seed,
                                            Duration run);

/// Bursts at their rate per link, on links between switches.
std::vector<CongestionBurst> plan_congestion(const ConfounderOptions& options,
                                             const Fabric& fabric,
                                             std::uint64_t seed,
                                             Duration run);

std::vector<Rehash> plan_rehashes(const ConfounderOptions& options,
                                  const Fabric& fabric,
                                  std::uint64_t seed,
                                  Duration run);

/// In order of time.  Work that would outlast the run is not begun.
std::vector<PlannedWork> plan_work(const ConfounderOptions& options,
                                   const Fabric& fabric,
                                   std::uint64_t seed,
                                   Duration run);

/// The jobs as they run when user code is slow (Straggler), when a GPU fails and all ranks wait for
/// it (a ShapeChange to the same shape), and when tasks stop.
/// @param rails of the fabric, which containers have if they do not say otherwise
std::vector<JobOptions> confounded_jobs(const ConfounderOptions& options,
                                        std::vector<JobOptions> jobs,
                                        std::uint32_t rails,
                                        std::uint64_t seed,
                                        Duration run);

}  // namespace bonescan
