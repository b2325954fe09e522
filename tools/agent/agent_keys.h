// The table of every key of an agent's configuration: the loader and the reference walk it.
#pragma once

#include "scenarios/schema/key_table.h"
#include "tools/agent/agent_config.h"

namespace bonescan {

using AgentTable = KeyTable<AgentConfig>;

const AgentTable& agent_table();

}  // namespace bonescan
