#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/run_directory.h"
#include "tools/report/table.h"
#include "tools/run/run_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace bonescan {
namespace {

int report(const std::string& directory) {
  const ScoredRun scored = load_scored(directory);
  const std::filesystem::path path(directory);
  const std::string folder =
      std::filesystem::is_directory(path) ? directory : path.parent_path().string();
  write_reports(folder, scored.run, scored.evaluation);
  fmt::print("{}", report_table(scored.run, scored.evaluation));
  fmt::print(stderr, "wrote report.json, report.html and trace.json in {}\n", folder);
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Invocation& invocation) {
  auto directory = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("report", "Write report.json, report.html and trace.json of a run anew");
  command->add_option("DIR", *directory, "Run directory, interrupted ones too")->required();
  command->callback(
      [directory, &invocation] { invocation.chosen = [directory] { return report(*directory); }; });
}

}  // namespace bonescan
