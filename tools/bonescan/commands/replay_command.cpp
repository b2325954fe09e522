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

std::string import_csv(const std::string& csv, const std::string& directory) {
  claim_run_directory(directory);
  const std::filesystem::path imported = std::filesystem::path(directory) / "imported.sqlite";
  const auto result = import_visits_csv(csv, imported.string());
  if (result) {
    return imported.string();
  }
  std::error_code ignored;
  std::filesystem::remove(imported, ignored);
  std::filesystem::remove(directory, ignored);  // Only if nothing else is in it.
  if (result.error().code == ErrorCode::kInvalid) {
    throw ConfigError(result.error().detail);
  }
  throw EnvironmentError(result.error().detail);
}

/// The log to analyse: the run's own, or one made from a CSV inside the new directory.
std::string log_of(const std::string& input, const std::string& directory) {
  const std::filesystem::path path(input);
  const std::filesystem::path file =
      std::filesystem::is_directory(path) ? path / "run.sqlite" : path;
  if (!std::filesystem::exists(file)) {
    throw ConfigError(fmt::format("{}: expected a run directory or a .csv file", input));
  }
  return file.extension() == ".csv" ? import_csv(input, directory) : file.string();
}

int replay(const ReplayArguments& arguments, const std::string& command_line) {
  RunSessionOptions options;
  options.directory = choose_directory(
      arguments.out, "replay-" + std::filesystem::path(arguments.input).stem().string());
  options.command = command_line;
  const std::string log = log_of(arguments.input, options.directory);
  const auto recorded = load_run(log);
  if (!recorded) {
    throw ConfigError(recorded.error().detail);
  }
  std::optional<ProgressLine> progress(std::in_place, recorded->info.planned);
  options.progress = progress->callback();
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
