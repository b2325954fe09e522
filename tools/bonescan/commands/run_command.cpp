#include "scenarios/schema/load_scenario.h"
#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/progress.h"
#include "tools/bonescan/commands/run_directory.h"
#include "tools/report/report_json.h"
#include "tools/report/table.h"
#include "tools/run/large_pages.h"
#include "tools/run/run_files.h"
#include "tools/run/run_session.h"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace bonescan {
namespace {

struct RunArguments {
  std::string file;
  std::optional<std::string> seed;  ///< as typed: the scenario knows what it may be
  std::string out;
  unsigned threads = 1;
  std::vector<std::string> settings;
  bool json = false;
  bool one_event_per_probe = false;
  std::string fidelity = "fast";
  std::string pcap_file;
  std::uint64_t pcap_packets = 10'000;
};

int run_file(const RunArguments& arguments, const std::string& command_line) {
  std::vector<std::string> settings = arguments.settings;
  if (arguments.seed) {
    settings.push_back(fmt::format("seed={}", *arguments.seed));
  }
  use_large_pages();
  const Scenario scenario = load_scenario(arguments.file, settings);
  RunSessionOptions options;
  options.directory =
      choose_directory(arguments.out, fmt::format("{}-seed{}", scenario.name, scenario.seed));
  options.command = command_line;
  options.threads = arguments.threads;
  options.one_event_per_probe = arguments.one_event_per_probe;
  options.packets = arguments.fidelity == "packet";
  options.pcap_file = arguments.pcap_file;
  options.pcap_packets = arguments.pcap_packets;
  std::optional<ProgressLine> progress(std::in_place, scenario.duration);
  options.progress = progress->callback();
  const RunData run = run_scenario(scenario, options);
  progress.reset();
  const Evaluation evaluation = evaluate(run);
  write_reports(options.directory, run, evaluation);
  if (arguments.json) {
    fmt::print("{}", json_text(report_json(run, evaluation)));
  } else {
    fmt::print("{}", report_table(run, evaluation));
  }
  fmt::print(stderr,
             "simulated {:.0f} s in {:.2f} s; report: {}/report.html\n",
             seconds(run.result.reached),
             run.result.wall_s,
             options.directory);
  return 0;
}

}  // namespace

void add_run_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scenario, detect, localize, score");
  command->add_option("FILE", arguments->file, "Scenario file")->required();
  command->add_option("--seed", arguments->seed, "Seed, instead of the file's")->type_name("UINT");
  command->add_option("--out", arguments->out, "Run directory (default runs/NAME-seedN)");
  command->add_option("--threads", arguments->threads, "Threads; never changes a result")
      ->check(CLI::Range(1, 256));
  command->add_option("--set", arguments->settings, "path.to.key=value, before checking");
  command->add_flag("--json", arguments->json, "Print report.json instead of the table");
  command->add_flag("--one-event-per-probe",
                    arguments->one_event_per_probe,
                    "Reference mode: every probe is an event (same records, far slower)");
  command
      ->add_option("--fidelity",
                   arguments->fidelity,
                   "fast: probes are closed forms; packet: every packet is simulated (at most "
                   "256 hosts)")
      ->check(CLI::IsMember({"fast", "packet"}));
  command->add_option("--pcap", arguments->pcap_file, "Packet mode: capture what RNICs send");
  command->add_option("--pcap-packets", arguments->pcap_packets, "At most so many (default 10000)");
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments, &invocation] {
      return run_file(*arguments, invocation.command_line);
    };
  });
}

}  // namespace bonescan
