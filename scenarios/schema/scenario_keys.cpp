#include "scenarios/schema/scenario_keys.h"

#include "faults/kinds/fault_kind.h"
#include "scenarios/schema/cloud_keys.h"
#include "scenarios/schema/confounder_keys.h"
#include "scenarios/schema/detection_keys.h"
#include "scenarios/schema/failure_keys.h"
#include "scenarios/schema/job_keys.h"
#include "scenarios/schema/load_keys.h"

#include <chrono>
#include <limits>

namespace bonescan {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Range<Duration> kLatencyRange{nanoseconds(0), milliseconds(100)};
constexpr Range<double> kShare{0.0, 1.0};

void add_top_level(ScenarioTable& table) {
  table
      .text(
          "name", {1, 100}, field(&Scenario::name), "Short name of the scenario, used in reports.")
      .required();
  table
      .text("description",
            {0, 4000},
            field(&Scenario::description),
            "What the scenario proves, in a sentence or two.")
      .otherwise("empty");
  table
      .duration("duration",
                {seconds(1), hours(24 * 366)},
                field(&Scenario::duration),
                "Simulated length of the run. All other times count from its start.")
      .required();
  table.count("seed",
              {0, std::numeric_limits<std::int64_t>::max()},
              field(&Scenario::seed),
              "Seed of everything random. Equal scenario and seed give an equal run.");
}

void add_overlay(ScenarioTable& table) {
  const auto overlay = [](auto member) { return field(&Scenario::overlay, member); };
  const Range<Duration> period{milliseconds(1), hours(1)};
  table.duration("overlay.ovs.max_idle",
                 period,
                 overlay(&OverlayOptions::max_idle),
                 "Open vSwitch other_config:max-idle: a flow idle for longer is evicted.");
  table.duration("overlay.ovs.max_revalidator",
                 period,
                 overlay(&OverlayOptions::max_revalidator),
                 "Open vSwitch other_config:max-revalidator: longest time between two sweeps over "
                 "the flows.");
  table.duration("overlay.ovs.counter_refresh",
                 period,
                 overlay(&OverlayOptions::counter_refresh),
                 "How often the RNIC driver reads the counters of offloaded flows.");
  table.choice<Reoffload>(
      "overlay.ovs.reoffload",
      {{"never", Reoffload::kNever}, {"on_upcall", Reoffload::kOnUpcall}},
      overlay(&OverlayOptions::reoffload),
      "After an eswitch entry aged out: `never` leaves the flow on the software "
      "path, `on_upcall` deletes it whole, so that the next packet installs it "
      "anew.");
  table.count("overlay.vxlan.port",
              {1, 65535},
              overlay(&OverlayOptions::vxlan_port),
              "UDP port of the VXLAN tunnels.");
  table.count("overlay.vxlan.vni",
              {1, 16'777'215},
              overlay(&OverlayOptions::vni),
              "VXLAN network identifier of the tenant.");
  table.duration("overlay.slow_path",
                 kLatencyRange,
                 overlay(&OverlayOptions::slow_path),
                 "Extra latency of one lookup in software instead of in the eswitch.");
  table.duration("overlay.upcall",
                 kLatencyRange,
                 overlay(&OverlayOptions::upcall),
                 "Extra latency of the first packet of a flow, on top of the software path.");
}

void add_latency(ScenarioTable& table) {
  const auto latency = [](auto member) { return field(&Scenario::latency, member); };
  table.duration("latency.endpoints",
                 kLatencyRange,
                 latency(&LatencyModelOptions::endpoints),
                 "Part of a round trip that both RNICs take together.");
  table.duration("latency.access_link",
                 kLatencyRange,
                 latency(&LatencyModelOptions::access_link),
                 "One RNIC-ToR link with its switch port, one way.");
  table.duration("latency.fabric_link",
                 kLatencyRange,
                 latency(&LatencyModelOptions::fabric_link),
                 "One ToR-aggregation link with its switch port, one way.");
  table.number("latency.jitter_sigma",
               {0.0, 2.0},
               latency(&LatencyModelOptions::jitter_sigma),
               "Log-normal sigma of a round trip.");
  table.ratio("latency.spike_ratio",
              kShare,
              latency(&LatencyModelOptions::spike_ratio),
              "Share of probes that meet a scheduling spike.");
  table.duration("latency.spike_mean",
                 kLatencyRange,
                 latency(&LatencyModelOptions::spike_mean),
                 "Mean extra latency of a spike.");
  table.duration("latency.load_queue_mean",
                 kLatencyRange,
                 latency(&LatencyModelOptions::load_queue_mean),
                 "Mean queueing while the job sends at its full rate.");
  table.ratio("latency.base_loss_ratio",
              kShare,
              latency(&LatencyModelOptions::base_loss_ratio),
              "Share of probes lost although nothing is wrong, both ways together.");
}

ScenarioTable make_scenario_table() {
  ScenarioTable table;
  add_top_level(table);
  add_fabric_keys(table);
  add_overlay(table);
  add_overlay_keys(table);
  add_latency(table);
  table
      .list("jobs",
            {1, 64},
            job_table(),
            field(&Scenario::jobs),
            "Training jobs, placed on the hosts in this order.")
      .otherwise("none, if there is a cloud");
  add_cloud_keys(table);
  add_spike_keys(table);
  add_load_keys(table);
  table.include(detection_table(), field(&Scenario::pipeline));
  add_confounder_keys(table);
  add_clock_keys(table);
  table.list("faults",
             {0, 1000},
             fault_table(),
             field(&ScenarioDraft::fault_drafts),
             "What is broken, and when.");
  add_failure_keys(table);
  return table;
}

}  // namespace

const ScenarioTable& scenario_table() {
  static const ScenarioTable kTable = make_scenario_table();
  return kTable;
}

}  // namespace bonescan
