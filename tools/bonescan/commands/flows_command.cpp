#include "tools/bonescan/commands/command.h"
#include "tools/flows/flow_check.h"
#include "tools/flows/flow_inputs.h"
#include "tools/flows/flow_report.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace bonescan {
namespace {

using backend_ovs::OffloadTable;

struct FlowsArguments {
  FlowFiles files;
  std::string offload = "none";
  bool json = false;
  bool sarif = false;
};

/// REQUIRES: one of the words of --offload.
OffloadTable offload_table(const std::string& word) {
  if (word == "none") {
    return OffloadTable::kNone;
  }
  return word == "tc" ? OffloadTable::kTc : OffloadTable::kHardware;
}

int compare_flows(const FlowsArguments& arguments) {
  const OffloadTable offload = offload_table(arguments.offload);
  const FlowInputs inputs = load_flow_inputs(arguments.files, offload);
  if (inputs.traces.empty()) {
    fmt::print(stderr,
               "bonescan: without --trace nothing says what OpenFlow expects; only order and "
               "offloading are judged\n");
  }
  const FlowCheck check = check_flows(inputs, offload);
  if (arguments.sarif) {
    fmt::print("{}", flow_report_sarif(check));
  } else if (arguments.json) {
    fmt::print("{}", flow_report_json(check));
  } else {
    fmt::print("{}", flow_report_text(check));
  }
  return check.findings.empty() ? 0 : 1;
}

}  // namespace

void add_flows_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<FlowsArguments>();
  FlowFiles& files = arguments->files;
  CLI::App* command = app.add_subcommand(
      "flows", "Compare saved dumps of flow tables: does the datapath do what OpenFlow says?");
  command->add_option("--datapath", files.datapath, "ovs-appctl dpctl/dump-flows -m")->required();
  command->add_option("--trace", files.traces, "ovs-appctl ofproto/trace, a file for each flow");
  command->add_option("--openflow", files.openflow, "ovs-ofctl dump-flows BRIDGE");
  command->add_option(
      "--tc",
      files.tc,
      "[DEVICE=]FILE: tc -s [-j] filter show dev DEVICE ingress; without DEVICE the "
      "file is named after it");
  command->add_option("--ports", files.ports, "ovs-appctl dpctl/show and dpif/show");
  command->add_option(
      "--before", files.before, "Earlier dumps of --datapath and --openflow, before some traffic");
  command->add_option("--offload", arguments->offload, "Where active flows belong (default: none)")
      ->check(CLI::IsMember({"none", "tc", "hardware"}));
  CLI::Option* json = command->add_flag("--json", arguments->json, "Findings as JSON");
  command->add_flag("--sarif", arguments->sarif, "Findings as SARIF 2.1.0")->excludes(json);
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments] { return compare_flows(*arguments); };
  });
}

}  // namespace bonescan
