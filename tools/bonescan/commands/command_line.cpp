#include "scenarios/schema/load_scenario.h"
#include "tools/bonescan/commands/command.h"
#include "tools/run/build_info.h"
#include "tools/run/run_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <system_error>

namespace bonescan {
namespace {

enum ExitCode : int {
  kUsage = 2,
  kInternal = 3,
  kEnvironment = 4,
};

std::string as_typed(int argc, const char* const* argv) {
  std::string text = "bonescan";
  for (int i = 1; i < argc; ++i) {
    text += std::string(" ") + argv[i];
  }
  return text;
}

/// A complaint if the first word should name a subcommand and does not.
std::optional<std::string> unknown_subcommand(const CLI::App& app,
                                              int argc,
                                              const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') {
    return std::nullopt;
  }
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> names;
  for (const CLI::App* command : commands) {
    if (command->check_name(argv[1])) {
      return std::nullopt;
    }
    names.push_back(command->get_name());
  }
  return fmt::format("unknown subcommand '{}'; there are: {}", argv[1], fmt::join(names, ", "));
}

int failed(ExitCode code, const std::string& message) {
  fmt::print(stderr, "bonescan: {}\n", message);
  return code;
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  const BuildInfo build = build_info();
  CLI::App app("bonescan: a digital twin and failure detector for RoCE training networks",
               "bonescan");
  app.set_version_flag("--version", fmt::format("bonescan {} ({})", build.version, build.commit));
  app.require_subcommand(1);
  Invocation invocation;
  invocation.command_line = as_typed(argc, argv);
  add_check_command(app, invocation);
  add_run_command(app, invocation);
  add_replay_command(app, invocation);
  add_score_command(app, invocation);
  add_compare_command(app, invocation);
  add_export_command(app, invocation);
  add_explain_command(app, invocation);
  add_incidents_command(app, invocation);
  add_report_command(app, invocation);
  add_agent_command(app, invocation);
  add_flows_command(app, invocation);
  add_campaign_command(app, invocation);
  add_plan_command(app, invocation);
  add_topology_command(app, invocation);
  if (const auto complaint = unknown_subcommand(app, argc, argv)) {
    return failed(kUsage, *complaint);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  try {
    const int code = invocation.chosen();
    // What the streams still hold may not fit on the disk either.
    if (std::fflush(stdout) != 0 || !std::cout.flush()) {
      throw EnvironmentError("the output cannot be written");
    }
    return code;
  } catch (const ConfigError& error) {
    return failed(kUsage, error.what());
  } catch (const EnvironmentError& error) {
    return failed(kEnvironment, error.what());
  } catch (const std::system_error& error) {
    return failed(kEnvironment, fmt::format("the output cannot be written: {}", error.what()));
  } catch (const std::exception& error) {
    return failed(kInternal, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace bonescan
