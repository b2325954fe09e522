// One run of an agent, from the preflight to the last line: the production pipeline on live
// sources, recorded as it goes.
//
// The directory is made only after the preflight has passed, and holds
//   run.sqlite        as of every run; `bonescan replay` analyses it again with equal incidents
//   incidents.jsonl   one line per change of an incident
//   visits.csv        the 45 columns of the public schema, bounded by agent.visits
//   manifest.json, and report.json, report.html, trace.json when the run has ended
// A run that a signal ends is complete; one that ends itself to keep a limit is complete too, and
// then EnvironmentError says why.  A disk that is full ends it with what was committed before.
#pragma once

#include "tools/agent/agent_clock.h"
#include "tools/agent/agent_config.h"
#include "tools/agent/live_sources.h"
#include "tools/agent/resource_guard.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bonescan {

struct AgentRunOptions {
  std::string directory;
  std::string command;               ///< as typed, for the manifest
  std::optional<Duration> duration;  ///< absent: until a signal
};

/// What an agent needs of the world.  All outlive the run.
struct AgentServices {
  LiveSystem& system;
  AgentClock& clock;
  ResourceMeter& meter;
  std::function<void(std::string_view sentence)> log;
};

/// @returns the run time that was reached
/// @throws EnvironmentError with one sentence
Time run_agent(const AgentConfig& config,
               const AgentRunOptions& options,
               const AgentServices& services);

}  // namespace bonescan
