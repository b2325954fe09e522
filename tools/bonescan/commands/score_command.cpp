#include "scenarios/schema/load_scenario.h"
#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/gate_campaign.h"
#include "tools/bonescan/commands/run_directory.h"
#include "tools/report/report_json.h"
#include "tools/report/table.h"

#include <fmt/format.h>

#include <memory>

namespace bonescan {
namespace {

struct ScoreArguments {
  std::vector<std::string> directories;
  std::string truth;
  bool json = false;
  GateArguments gates;
};

/// What was broken when the visits were recorded is also what a replay or a trial should have
/// found.
void take_truth(const std::string& from, RunData& run) {
  auto recorded = load_run(from);
  if (!recorded) {
    throw ConfigError(recorded.error().detail);
  }
  if (!recorded->info.truth_available) {
    throw ConfigError(from +
                      ": nobody knows what was broken in this run; expected a simulated one");
  }
  if (recorded->info.scenario_hash != run.info.scenario_hash ||
      recorded->info.seed != run.info.seed) {
    throw ConfigError(from + ": is another run; expected the one whose visits were heard again");
  }
  run.truth = std::move(recorded->truth);
  run.info.truth_available = true;
}

int score(const ScoreArguments& arguments) {
  if (!arguments.gates.file.empty()) {
    if (arguments.directories.size() != 1) {
      throw ConfigError("--gates: expected one campaign database; found several");
    }
    return gate_campaign(arguments.gates, arguments.directories.front());
  }
  Json all = Json::array();
  for (const std::string& directory : arguments.directories) {
    ScoredRun scored = load_scored(directory);
    if (!arguments.truth.empty()) {
      take_truth(arguments.truth, scored.run);
      scored.evaluation = evaluate(scored.run);
    }
    if (arguments.json) {
      all.push_back(report_json(scored.run, scored.evaluation));
      continue;
    }
    if (arguments.directories.size() > 1) {
      fmt::print("== {}\n", directory);
    }
    fmt::print("{}", report_table(scored.run, scored.evaluation));
  }
  if (arguments.json) {
    // One run gives one report; several give a list.
    fmt::print("{}", json_text(all.size() == 1 ? all.front() : all));
  }
  return 0;
}

}  // namespace

void add_score_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = app.add_subcommand("score", "Judge runs against what was really broken");
  command
      ->add_option("DIR",
                   arguments->directories,
                   "Run directories, interrupted ones too; with --gates a campaign's database")
      ->required();
  CLI::Option* truth = command->add_option(
      "--truth",
      arguments->truth,
      "The simulated run whose visits these runs heard again: take what was broken from there");
  CLI::Option* json =
      command->add_flag("--json", arguments->json, "Print report.json instead of the table");
  CLI::Option* gates =
      command->add_option("--gates", arguments->gates.file, "What the figures must be (YAML)");
  gates->excludes(truth)->excludes(json);
  command->add_option("--baseline", arguments->gates.baseline, "The campaign before the change")
      ->needs(gates);
  command->add_option("--junit", arguments->gates.junit, "Write a test report for CI here (XML)")
      ->needs(gates);
  command->add_option("--markdown", arguments->gates.markdown, "Write a summary for people here")
      ->needs(gates);
  command->callback(
      [arguments, &invocation] { invocation.chosen = [arguments] { return score(*arguments); }; });
}

}  // namespace bonescan
