// What an agent needs besides RDMA devices: Open vSwitch, its peers, its port, a clock.
#pragma once

#include "detectors/backend_ovs/command.h"
#include "detectors/backend_ovs/ovs_config.h"
#include "sim/base/units.h"
#include "tools/agent/agent_config.h"
#include "tools/agent/live_sources.h"

#include <string>
#include <vector>

namespace bonescan {

/// The configuration in the words of backend_ovs.
backend_ovs::OvsConfig ovs_config_of(const AgentConfig& config);

/// Asks every configured Open vSwitch for its version, and tc if flows are offloaded to it.
std::vector<PreflightRow> inspect_ovs(const AgentConfig& config,
                                      backend_ovs::CommandRunner& runner);

/// Whether this agent can listen.
PreflightRow inspect_management(const AgentConfig& config);

/// Connects to all peers at once and waits for `patience` at most.  Peers may start later, so
/// nothing here is missing.
std::vector<PreflightRow> inspect_peers(const AgentConfig& config, Duration patience);

/// Whether the cables of the endpoints are known.
/// @throws ConfigError
PreflightRow inspect_topology(const AgentConfig& config);

/// Whether the ports count their traffic.
/// @param sysfs_root "/sys"
std::vector<PreflightRow> inspect_counters(const AgentConfig& config,
                                           const std::string& sysfs_root);

/// Whether the wall clock is kept in step.
PreflightRow inspect_clock();

}  // namespace bonescan
