// SIGHUP: the configuration file is read again.
//
// Taken over are the keys that bear on nothing recorded: limits, agent.flush, agent.visits.  If any
// other key differs, or the file is broken, the old configuration stays whole.
#pragma once

#include "tools/agent/agent_config.h"

#include <optional>
#include <string>

namespace bonescan {

struct Reload {
  std::optional<AgentConfig> config;  ///< absent if nothing changes
  bool refused = false;
  std::string message;  ///< one sentence for the log
};

/// `running` is what is in force; its file is read.
Reload reload_agent_config(const AgentConfig& running);

/// The same with the new text in hand.
Reload reload_agent_config(const AgentConfig& running, const std::string& text);

}  // namespace bonescan
