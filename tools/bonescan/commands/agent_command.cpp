#include "scenarios/schema/quantity.h"
#include "tools/agent/agent_run.h"
#include "tools/agent/preflight.h"
#include "tools/agent/system_sources.h"
#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/run_directory.h"
#include "tools/run/run_session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

namespace bonescan {
namespace {

struct AgentArguments {
  std::string config;
  std::string out;
  std::string duration;
  bool standalone = false;
  bool check = false;
  bool json = false;
};

/// One line on stderr; a log that cannot be written stops nothing.
void log_line(std::string_view sentence) {
  fmt::print(stderr, "{:%Y-%m-%dT%H:%M:%SZ} {}\n", fmt::gmtime(std::time(nullptr)), sentence);
  std::fflush(stderr);
}

std::string directory_of(const AgentConfig& config, const std::string& out) {
  return choose_directory(out.empty() ? config.output : out, "agent-" + config.host);
}

Duration read_duration_option(const std::string& text, Duration visit) {
  const Expected<Duration> duration = parse_duration(text);
  if (!duration || *duration < visit) {
    throw ConfigError(
        fmt::format("--duration: expected a duration from {} on; found '{}'; hint: {}",
                    format_duration(visit),
                    text,
                    duration ? "a run takes at least one visit period" : duration.error().detail));
  }
  return *duration;
}

int check(const AgentArguments& arguments) {
  const AgentConfig config = load_agent_config(arguments.config);
  const std::unique_ptr<LiveSystem> system = make_system_sources();
  SystemMeter meter;
  const std::vector<PreflightRow> rows =
      preflight(config, directory_of(config, arguments.out), *system, meter);
  fmt::print("{}", arguments.json ? preflight_json(rows) : preflight_table(rows));
  if (!can_run(rows)) {
    throw EnvironmentError("the agent cannot run here: " + first_obstacle(rows));
  }
  return 0;
}

int run(const AgentArguments& arguments, const std::string& command_line) {
  const AgentConfig config = load_agent_config(arguments.config);
  AgentRunOptions options;
  options.directory = directory_of(config, arguments.out);
  options.command = command_line;
  if (!arguments.duration.empty()) {
    options.duration = read_duration_option(arguments.duration, config.pipeline.probing.visit);
  }
  // Before anything else that may make a thread: signals are for this one alone.
  SystemClock clock;
  SystemMeter meter;
  const std::unique_ptr<LiveSystem> system = make_system_sources();
  const AgentServices services{*system, clock, meter, &log_line};
  run_agent(config, options, services);
  return 0;
}

}  // namespace

void add_agent_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<AgentArguments>();
  CLI::App* command =
      app.add_subcommand("agent", "Probe, detect and localize on this host's own devices");
  command->add_option("--config", arguments->config, "Configuration file")->required();
  command->add_option("--out", arguments->out, "Run directory (default runs/agent-HOST)");
  command->add_option("--duration", arguments->duration, "End after this long, for example 90s");
  CLI::Option* standalone =
      command->add_flag("--standalone", arguments->standalone, "Run, with no server at all");
  CLI::Option* preflight_only =
      command->add_flag("--check", arguments->check, "Only say what works here and what does not");
  command->add_flag("--json", arguments->json, "With --check: as JSON")->needs(preflight_only);
  standalone->excludes(preflight_only);
  command->callback([arguments, &invocation] {
    if (!arguments->standalone && !arguments->check) {
      throw CLI::RequiredError("--standalone or --check");
    }
    invocation.chosen = [arguments, &invocation] {
      return arguments->check ? check(*arguments) : run(*arguments, invocation.command_line);
    };
  });
}

}  // namespace bonescan
