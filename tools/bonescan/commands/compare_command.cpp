#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/run_directory.h"
#include "tools/report/compare.h"

#include <fmt/format.h>

#include <memory>

namespace bonescan {
namespace {

struct CompareArguments {
  std::string first;
  std::string second;
  bool json = false;
};

int compare(const CompareArguments& arguments) {
  const ScoredRun first = load_scored(arguments.first);
  const ScoredRun second = load_scored(arguments.second);
  const Comparison comparison =
      compare_runs(first.run, first.evaluation, second.run, second.evaluation);
  fmt::print("{}",
             arguments.json ? json_text(comparison_json(comparison)) : comparison_text(comparison));
  return 0;
}

}  // namespace

void add_compare_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand("compare", "Put two runs side by side");
  command->add_option("FIRST", arguments->first, "Run directory")->required();
  command->add_option("SECOND", arguments->second, "Run directory")->required();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments] { return compare(*arguments); };
  });
}

}  // namespace bonescan
