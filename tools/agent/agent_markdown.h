// scenarios/agent/SCHEMA.md, written from the table that the agent's loader reads with.
#pragma once

#include <string>

namespace bonescan {

/// The whole document; the committed file equals it byte for byte.
std::string agent_markdown();

}  // namespace bonescan
