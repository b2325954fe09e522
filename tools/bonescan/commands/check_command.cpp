#include "faults/processes/fault_trace.h"
#include "scenarios/schema/load_scenario.h"
#include "tools/bonescan/commands/command.h"

#include <fmt/format.h>

#include <memory>

namespace bonescan {
namespace {

struct CheckArguments {
  std::vector<std::string> files;
  std::vector<std::string> settings;
};

std::string arising(const FailureOptions& failures) {
  if (!failures.active()) {
    return "";
  }
  if (failures.process == FailureProcess::kTrace) {
    const TraceCounts counts = count_trace(failures);
    return fmt::format(" and {} of a trace (not of the network {}, outside of the run {})",
                       counts.network,
                       counts.others,
                       counts.outside);
  }
  return failures.process == FailureProcess::kCount ? fmt::format(" and {} by seed", failures.count)
                                                    : " and others by rate";
}

int check_files(const CheckArguments& arguments) {
  int code = 0;
  for (const std::string& file : arguments.files) {
    try {
      const Scenario scenario = load_scenario(file, arguments.settings);
      fmt::print("{}: ok, \"{}\": {} RNICs, {} jobs, {} faults{}, {:.0f} s\n",
                 file,
                 scenario.name,
                 Fabric(scenario.fabric).rnic_count(),
                 scenario.jobs.size(),
                 scenario.faults.size(),
                 arising(scenario.failures),
                 seconds(scenario.duration));
    } catch (const ConfigError& error) {
      fmt::print(stderr, "{}\n", error.what());
      code = 2;
    }
  }
  return code;
}

}  // namespace

void add_check_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand("check", "Check scenario files without running them");
  command->add_option("FILE", arguments->files, "Scenario files")->required();
  command->add_option("--set", arguments->settings, "path.to.key=value, before checking");
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments] { return check_files(*arguments); };
  });
}

}  // namespace bonescan
