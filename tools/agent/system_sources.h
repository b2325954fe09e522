// The real sources: verbs devices, management connections, Open vSwitch, the topology, this host.
#pragma once

#include "detectors/backend_ovs/command.h"
#include "detectors/backend_verbs/device.h"
#include "tools/agent/live_sources.h"

#include <functional>
#include <memory>

namespace bonescan {

/// Makes the RDMA stack of one run, on that run's clock.
using RdmaFactory = std::function<std::unique_ptr<verbs::RdmaSystem>(const verbs::HostClock&)>;

/// This machine.
std::unique_ptr<LiveSystem> make_system_sources();

/// The same over another RDMA stack and other tools.
/// REQUIRES: `runner` outlives the system and its sources.
std::unique_ptr<LiveSystem> make_system_sources(RdmaFactory rdma,
                                                backend_ovs::CommandRunner& runner);

}  // namespace bonescan
