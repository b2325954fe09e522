#include "scenarios/schema/load_scenario.h"
#include "scenarios/schema/wiring_file.h"
#include "tools/bonescan/commands/command.h"
#include "tools/topology/topology_check.h"

#include <fmt/format.h>

#include <memory>

namespace bonescan {
namespace {

int check_topology(const TopologyArguments& arguments) {
  if (arguments.export_blueprint) {
    fmt::print("{}", wiring_text(blueprint_wiring(arguments.blueprint)));
    return 0;
  }
  if (arguments.files.empty()) {
    throw ConfigError("name the files to check, or use --export");
  }
  const TopologyReport report = check_topology_files(arguments);
  fmt::print("{}", arguments.as_json ? topology_json(report) : topology_text(report));
  return report.findings.empty() ? 0 : 1;
}

}  // namespace

void add_topology_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<TopologyArguments>();
  CLI::App* command =
      app.add_subcommand("topology", "Check cables, or the devices of a host, against a blueprint");
  command->add_option("FILE", arguments->files, "What was found; several are read as one");
  command
      ->add_option("--blueprint",
                   arguments->blueprint,
                   "What it should be: a scenario, of which the fabric counts, or a topology file")
      ->required();
  command
      ->add_option("--format",
                   arguments->format,
                   "graph (a topology file), ibnetdiscover, lldp (lldpctl -f keyvalue, a file per "
                   "node) or nccl (NCCL_TOPO_DUMP_FILE)")
      ->check(CLI::IsMember({"graph", "ibnetdiscover", "lldp", "nccl"}));
  command->add_option("--names", arguments->names, "Other names of nodes: a file with `names:`");
  command->add_flag("--json", arguments->as_json, "Findings as JSON");
  command->add_flag("--export", arguments->export_blueprint, "Print the blueprint as a file");
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments] { return check_topology(*arguments); };
  });
}

}  // namespace bonescan
