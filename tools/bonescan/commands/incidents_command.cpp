#include "scenarios/schema/load_scenario.h"
#include "tools/bonescan/commands/command.h"
#include "tools/bonescan/commands/run_directory.h"
#include "tools/report/alertmanager.h"
#include "tools/report/format.h"
#include "tools/report/report_json.h"

#include <fmt/format.h>

#include <memory>

namespace bonescan {
namespace {

struct IncidentsArguments {
  std::string directory;
  bool json = false;
  bool alertmanager = false;
};

std::string one_line(const RunData& run, const Incident& incident) {
  return fmt::format("{}  {:<7}  {:<6}  {:>8}  {}: {}, {} pairs{}\n{:>18}{}\n",
                     incident_id_text(incident.id),
                     incident.planned ? "planned" : to_string(incident.severity),
                     incident.closed ? "closed" : "open",
                     clock_text(incident.opened),
                     incident.kind,
                     named_component(run, incident),
                     incident.pairs.size(),
                     incident.episodes > 1 ? fmt::format(", {} episodes", incident.episodes) : "",
                     "",
                     incident.action.empty() ? "Nobody knows what to do." : incident.action);
}

int incidents(const IncidentsArguments& arguments) {
  const ScoredRun scored = load_scored(arguments.directory);
  const RunData& run = scored.run;
  const IncidentNames names{run.endpoints, run.components, run.pairs, run.info.epoch_unix_ns};
  Json all = Json::array();
  for (const Incident& incident : run.incidents) {
    if (arguments.alertmanager) {
      if (Json alert = alertmanager_alert(names, incident, {}, ""); !alert.is_null()) {
        all.push_back(std::move(alert));
      }
    } else if (arguments.json) {
      all.push_back(incident_json(names, incident, incident.closed ? "closed" : "open"));
    } else {
      fmt::print("{}", without_control_characters(one_line(run, incident)));
    }
  }
  if (arguments.json || arguments.alertmanager) {
    fmt::print("{}", json_text(all));
  }
  return 0;
}

}  // namespace

void add_incidents_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<IncidentsArguments>();
  CLI::App* command = app.add_subcommand(
      "incidents", "List the incidents of a run: how urgent, where, and what to do");
  command->add_option("DIR", arguments->directory, "Run directory")->required();
  CLI::Option* json = command->add_flag(
      "--json", arguments->json, "Print them as JSON, as in tools/report/incident.schema.json");
  command
      ->add_flag("--alertmanager",
                 arguments->alertmanager,
                 "Print the body of Alertmanager's POST /api/v2/alerts; planned ones are left out")
      ->excludes(json);
  command->callback([arguments, &invocation] {
    invocation.chosen = [arguments] { return incidents(*arguments); };
  });
}

}  // namespace bonescan
