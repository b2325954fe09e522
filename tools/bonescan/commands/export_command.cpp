#include "detectors/backend_replay/visit_csv.h"
#include "scenarios/schema/load_scenario.h"
#include "tools/bonescan/commands/command.h"
#include "tools/run/run_session.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

namespace bonescan {
namespace {

struct ExportArguments {
  std::string directory;
  std::string format = "csv";
  std::string out;
};

int export_visits(const ExportArguments& arguments) {
  const std::filesystem::path path(arguments.directory);
  const auto log = RunLogReader::open(
      (std::filesystem::is_directory(path) ? path / "run.sqlite" : path).string());
  if (!log) {
    throw ConfigError(log.error().detail);
  }
  std::ofstream file;
  if (!arguments.out.empty()) {
    file.open(arguments.out, std::ios::binary);
    if (!file) {
      throw EnvironmentError(fmt::format("{}: cannot be written", arguments.out));
    }
  }
  std::ostream& out = arguments.out.empty() ? std::cout : file;
  const auto result =
      arguments.format == "csv" ? export_visits_csv(**log, out) : export_visits_jsonl(**log, out);
  out.flush();
  if (!result || !out) {
    throw EnvironmentError(result ? "the output cannot be written" : result.error().detail);
  }
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command =
      app.add_subcommand("export", "Write the visits of a run as CSV or JSON lines");
  command->add_option("DIR", arguments->directory, "Run directory")->required();
  command->add_option("--format", arguments->format, "csv (public 45-column schema) or jsonl")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  command->add_option("--out", arguments->out, "File (default: standard output)");
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments] { return export_visits(*arguments); };
  });
}

}  // namespace bonescan
