// The real sources: verbs devices, management connections, Open vSwitch, the topology, this host.
#pragma once

#include "tools/agent/live_sources.h"

#include <memory>

namespace bonescan {

std::unique_ptr<LiveSystem> make_system_sources();

}  // namespace bonescan
