// The subcommands of `bonescan`, one file each.
//
// A command registers its options and a callback that returns the exit code:
//   0 it found what there was to find      1 a gate failed, or findings
//   2 usage or input                       3 internal        4 environment
// Data goes to stdout, talk to stderr.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace bonescan {

/// What is to be done once the command line has been understood.
struct Invocation {
  std::string command_line;     ///< as typed, for manifests
  std::function<int()> chosen;  ///< set by the subcommand that was named
};

void add_check_command(CLI::App& app, Invocation& invocation);
void add_run_command(CLI::App& app, Invocation& invocation);
void add_replay_command(CLI::App& app, Invocation& invocation);
void add_score_command(CLI::App& app, Invocation& invocation);
void add_compare_command(CLI::App& app, Invocation& invocation);
void add_export_command(CLI::App& app, Invocation& invocation);
void add_explain_command(CLI::App& app, Invocation& invocation);
void add_incidents_command(CLI::App& app, Invocation& invocation);
void add_report_command(CLI::App& app, Invocation& invocation);
void add_agent_command(CLI::App& app, Invocation& invocation);
void add_flows_command(CLI::App& app, Invocation& invocation);
void add_campaign_command(CLI::App& app, Invocation& invocation);
void add_topology_command(CLI::App& app, Invocation& invocation);
void add_plan_command(CLI::App& app, Invocation& invocation);

/// Runs the command line; returns the exit code.  Every error becomes one clear message.
int run_command_line(int argc, const char* const* argv);

}  // namespace bonescan
