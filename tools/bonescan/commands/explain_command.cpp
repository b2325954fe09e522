#include "scenarios/schema/load_scenario.h"
#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/run_directory.h"
#include "tools/report/explain.h"

#include <fmt/format.h>

#include <memory>

namespace bonescan {
namespace {

struct ExplainArguments {
  std::string directory;
  std::string incident;
};

int explain(const ExplainArguments& arguments) {
  const ScoredRun scored = load_scored(arguments.directory);
  if (arguments.incident.empty()) {
    for (std::size_t i = 0; i < scored.run.incidents.size(); ++i) {
      fmt::print("{}{}", i == 0 ? "" : "\n", explain_incident(scored.run, scored.evaluation, i));
    }
    return 0;
  }
  const auto index = find_incident(scored.run, arguments.incident);
  if (!index) {
    throw ConfigError(index.error().detail);
  }
  fmt::print("{}", explain_incident(scored.run, scored.evaluation, *index));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command =
      app.add_subcommand("explain", "Tell the evidence of an incident in plain words");
  command->add_option("DIR", arguments->directory, "Run directory")->required();
  command->add_option(
      "--incident", arguments->incident, "Its id or the first digits (default: all)");
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments] { return explain(*arguments); };
  });
}

}  // namespace bonescan
