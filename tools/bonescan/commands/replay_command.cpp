#include "detectors/backend_replay/visit_csv.h"
#include "scenarios/schema/load_scenario.h"
#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/progress.h"
#include "tools/bonescan/commands/run_directory.h"
#include "tools/report/report_json.h"
#include "tools/report/table.h"
#include "tools/run/run_files.h"
#include "tools/run/run_session.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

namespace bonescan {
namespace {

struct ReplayArguments {
  std::string input;
  std::string out;
  bool json = false;
};

/// The log to analyse: the run's own, or one made from a CSV inside the new directory.
std::string log_of(const std::string& input, const std::string& directory) {
  const std::filesystem::path path(input);
  if (path.extension() == ".csv") {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    const std::string imported = (std::filesystem::path(directory) / "imported.sqlite").string();
    const auto result = import_visits_csv(input, imported);
    if (!result) {
      if (result.error().code == ErrorCode::kInvalid) {
        throw ConfigError(result.error().detail);
      }
      throw EnvironmentError(result.error().detail);
    }
    return imported;
  }
  const std::filesystem::path log =
      std::filesystem::is_directory(path) ? path / "run.sqlite" : path;
  if (!std::filesystem::exists(log)) {
    throw ConfigError(fmt::format("{}: expected a run directory or a .csv file", input));
  }
  return log.string();
}

int replay(const ReplayArguments& arguments, const std::string& command_line) {
  RunSessionOptions options;
  options.directory = choose_directory(
      arguments.out, "replay-" + std::filesystem::path(arguments.input).stem().string());
  options.command = command_line;
  const std::string log = log_of(arguments.input, options.directory);
  std::optional<ProgressLine> progress;
  if (const auto recorded = load_run(log)) {
    progress.emplace(recorded->info.planned);
    options.progress = progress->callback();
  }
  const RunData run = replay_run(log, options);
  progress.reset();
  const Evaluation evaluation = evaluate(run);
  write_reports(options.directory, run, evaluation);
  fmt::print(
      "{}",
      arguments.json ? json_text(report_json(run, evaluation)) : report_table(run, evaluation));
  fmt::print(stderr, "report: {}/report.html\n", options.directory);
  return 0;
}

}  // namespace

void add_replay_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command =
      app.add_subcommand("replay", "Analyse a recorded run, or a CSV of visits, again");
  command->add_option("INPUT", arguments->input, "Run directory, run.sqlite or .csv")->required();
  command->add_option("--out", arguments->out, "Directory of the new analysis");
  command->add_flag("--json", arguments->json, "Print report.json instead of the table");
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments, &invocation] {
      return replay(*arguments, invocation.command_line);
    };
  });
}

}  // namespace bonescan
