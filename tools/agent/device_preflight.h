// Whether the RDMA devices of this host are as the configuration has them.
#pragma once

#include "detectors/backend_verbs/device.h"
#include "detectors/backend_verbs/gid_select.h"
#include "sim/base/error.h"
#include "tools/agent/agent_config.h"
#include "tools/agent/live_sources.h"

#include <vector>

namespace bonescan {

/// What the configuration asks of the GID table.
verbs::GidWish gid_wish_of(const InventoryEntry& entry);

/// @param devices what verbs::describe_devices() said
std::vector<PreflightRow> inspect_devices(
    const AgentConfig& config, const Expected<std::vector<verbs::DeviceDescription>>& devices);

}  // namespace bonescan
