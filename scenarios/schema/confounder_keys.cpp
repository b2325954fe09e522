#include "scenarios/schema/confounder_keys.h"

#include "faults/confounder_plan.h"
#include "scenarios/schema/quantity.h"
#include "scenarios/schema/yaml_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr Range<double> kShare{0.0, 1.0};
constexpr Range<double> kRate{0.0, 1e6};
constexpr Range<Duration> kWait{nanoseconds(0), hours(24)};
constexpr Range<Duration> kStretch{milliseconds(1), hours(24)};
constexpr Range<Duration> kLong{nanoseconds(0), hours(24 * 366)};

auto confounders(auto... members) {
  return field(&Scenario::confounders, members...);
}

void add_agents(ScenarioTable& table) {
  table.ratio("confounders.late_starts.share",
              kShare,
              confounders(&ConfounderOptions::late_start_share),
              "Share of containers that become ready late.");
  table.duration("confounders.late_starts.delay",
                 kWait,
                 confounders(&ConfounderOptions::late_start_delay),
                 "How late they are.");
  table.count("confounders.agent_crashes.count",
              {0, 100'000},
              confounders(&ConfounderOptions::agent_crashes),
              "Agents that die and come back, spread over the run.");
  table.number("confounders.agent_crashes.per_host_day",
               kRate,
               confounders(&ConfounderOptions::agent_crashes_per_host_day),
               "The same as a rate, besides `count`.");
  table.duration("confounders.agent_crashes.down",
                 kStretch,
                 confounders(&ConfounderOptions::agent_down),
                 "For how long a crashed agent is away.");
  table.duration("confounders.agent_upgrades.first",
                 kLong,
                 confounders(&ConfounderOptions::upgrade_first),
                 "When the first rolling upgrade of the jobs' agents begins; 0s: at a moment by "
                 "seed, within the first `every`.");
  table.duration("confounders.agent_upgrades.every",
                 kLong,
                 confounders(&ConfounderOptions::upgrade_every),
                 "From one to the next; 0s: there is only the first one, or none.");
  table.duration("confounders.agent_upgrades.over",
                 kStretch,
                 confounders(&ConfounderOptions::upgrade_over),
                 "Time over which the agents are upgraded, each at a random moment.");
  table.duration("confounders.agent_upgrades.down",
                 kStretch,
                 confounders(&ConfounderOptions::upgrade_down),
                 "How long the upgrade of one agent takes.");
}

void add_network(ScenarioTable& table) {
  table.number("confounders.congestion.per_minute",
               {0.0, 1000.0},
               confounders(&ConfounderOptions::congestion_per_minute),
               "Congestion bursts a minute, each on one direction of one ToR-aggregation link.");
  table.number("confounders.congestion.per_link_hour",
               kRate,
               confounders(&ConfounderOptions::congestion_per_link_hour),
               "The same as a rate of each direction of each link between switches, besides "
               "`per_minute`.");
  table.duration("confounders.congestion.length",
                 {milliseconds(1), hours(1)},
                 confounders(&ConfounderOptions::congestion_length),
                 "Length of a burst.");
  table.duration("confounders.congestion.queue",
                 {nanoseconds(0), milliseconds(100)},
                 confounders(&ConfounderOptions::congestion_queue),
                 "Mean extra queueing in a burst.");
  table.number("confounders.rehashes.per_switch_day",
               kRate,
               confounders(&ConfounderOptions::rehashes_per_switch_day),
               "How often a switch begins to hash with another salt: flows take other ways, and "
               "nothing is broken.");
  table.number("confounders.maintenance.per_host_month",
               kRate,
               confounders(&ConfounderOptions::work_per_host_month),
               "How often a host is taken down on purpose. Its window is declared to detection as "
               "in `maintenance`.");
  table.number("confounders.maintenance.per_cable_month",
               kRate,
               confounders(&ConfounderOptions::work_per_cable_month),
               "The same for cables between switches.");
  table.duration("confounders.maintenance.length",
                 kStretch,
                 confounders(&ConfounderOptions::work_length),
                 "How long the work takes.");
  table.duration("confounders.maintenance.margin",
                 kWait,
                 confounders(&ConfounderOptions::work_margin),
                 "So much before and after it belongs to the declared window.");
}

void add_users(ScenarioTable& table) {
  table.number("confounders.slow_code.per_container_day",
               kRate,
               confounders(&ConfounderOptions::slow_code_per_container_day),
               "How often the code of a container of a training job is slow for a while, so that "
               "its bursts come late.");
  table.ratio("confounders.slow_code.least_slowdown",
              kShare,
              confounders(&ConfounderOptions::slow_code_slowdown, &Between<double>::least),
              "How late at least, in relation to the step time; uniform up to ...");
  table.ratio("confounders.slow_code.most_slowdown",
              kShare,
              confounders(&ConfounderOptions::slow_code_slowdown, &Between<double>::most),
              "... how late at most.");
  table.duration("confounders.slow_code.least_length",
                 kStretch,
                 confounders(&ConfounderOptions::slow_code_length, &Between<Duration>::least),
                 "For how long at least; uniform up to ...");
  table.duration("confounders.slow_code.most_length",
                 kStretch,
                 confounders(&ConfounderOptions::slow_code_length, &Between<Duration>::most),
                 "... for how long at most.");
  table.number("confounders.gpu_faults.per_gpu_day",
               kRate,
               confounders(&ConfounderOptions::gpu_faults_per_gpu_day),
               "How often a GPU fails: its whole training job falls silent and begins again, and "
               "the network is healthy.");
  table.duration("confounders.gpu_faults.silence",
                 kStretch,
                 confounders(&ConfounderOptions::gpu_fault_silence),
                 "For how long.");
  table.number("confounders.task_stops.per_job_day",
               kRate,
               confounders(&ConfounderOptions::task_stops_per_job_day),
               "How often a job ends in the middle of its work, announced and for good. Never the "
               "first job of the scenario.");
}

template <class V>
void check_order(const Between<V>& bounds,
                 const std::string& quantity,
                 std::string (*format)(V),
                 const YamlNode& root) {
  if (bounds.least > bounds.most) {
    const std::string path = "confounders.slow_code.least_" + quantity;
    raise(locate(root, path),
          path,
          {fmt::format(
               "at most confounders.slow_code.most_{}, which is {}", quantity, format(bounds.most)),
           format(bounds.least),
           "lower it, or raise the other"});
  }
}

}  // namespace

void add_confounder_keys(ScenarioTable& table) {
  table
      .text("confounders.file",
            {1, 1000},
            field(&ScenarioDraft::confounders_file),
            "Another file with these keys, relative to this one. Keys beside it win.")
      .otherwise("none");
  table.number(
      "confounders.times",
      {1e-6, 1e6},
      confounders(&ConfounderOptions::times),
      "All rates that are per host, link, switch, cable, container, GPU or job are so many "
      "times as high, and upgrades so many times as frequent.");
  add_agents(table);
  add_network(table);
  add_users(table);
}

void resolve_confounders(ScenarioDraft& draft, const Fabric& fabric, const YamlNode& root) {
  const ConfounderOptions& options = draft.confounders;
  check_order(options.slow_code_slowdown, "slowdown", format_number, root);
  check_order(options.slow_code_length, "length", format_duration, root);
  for (const PlannedWork& work : plan_work(options, fabric, draft.seed, draft.duration)) {
    MaintenanceWindow window;
    window.from = std::max(Duration::zero(), work.at - options.work_margin);
    window.to = work.at + work.length + options.work_margin;
    window.length = window.to - window.from;
    std::string& subject = work.on.kind == RefKind::kHost ? window.host : window.component;
    subject = component_name(fabric, work.on);
    draft.pipeline.maintenance.push_back(std::move(window));
  }
}

}  // namespace bonescan
