// What works here and what does not, before anything is made.
#pragma once

#include "tools/agent/agent_config.h"
#include "tools/agent/live_sources.h"
#include "tools/agent/resource_guard.h"

#include <string>
#include <vector>

namespace bonescan {

/// Everything that was looked at: what `system` says of the machine, the run directory, the disk,
/// the port of the metrics.  Makes nothing.
std::vector<PreflightRow> preflight(const AgentConfig& config,
                                    const std::string& directory,
                                    LiveSystem& system,
                                    ResourceMeter& meter);

/// Whether the agent can run.
bool can_run(const std::vector<PreflightRow>& rows);

/// The first thing that is missing and how to help it, in one sentence.  REQUIRES: !can_run(rows).
std::string first_obstacle(const std::vector<PreflightRow>& rows);

/// For people: one line per row, "ok       device mlx5_0     port 1 is active".
std::string preflight_table(const std::vector<PreflightRow>& rows);

/// {"schema_version": 1, "can_run": true, "checks": [{"status": ..., "subject": ..., ...}]}
std::string preflight_json(const std::vector<PreflightRow>& rows);

}  // namespace bonescan
