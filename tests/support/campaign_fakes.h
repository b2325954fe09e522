// Campaigns that take microseconds: a plan over the quickstart, and runs that nobody simulates.
//
// Invariants: 1. what a fake run finds is a function of its scenario's seed and its scheme, so that
// campaigns can be compared.
#pragma once

#include "tools/campaign/campaign_plan.h"
#include "tools/campaign/campaign_runner.h"
#include "tools/campaign/campaign_store.h"

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bonescan::fakes {

inline RiderNames rider_names() {
  return {{"pingmesh", "mesh-vote"}, {"007", "raw-vote"}};
}

/// Placed where scenarios are found: "scenario: ../smoke/healthy.yaml" leads somewhere.
inline std::string campaign_path() {
  return std::string(BONESCAN_SOURCE_DIR "/scenarios/campaigns/made_up.yaml");
}

inline CampaignFile campaign_from(const std::string& text) {
  return parse_campaign_file(text, campaign_path(), rider_names());
}

/// Two lengths, two schemes, one of which has a rider; `seeds` is a line of the file.
inline CampaignPlan small_plan(const std::string& seeds = "seeds: {from: 1, to: 4}",
                               const PlanChoice& choice = {}) {
  return plan_campaign(campaign_from("name: small\n"
                                     "scenario: ../smoke/healthy.yaml\n"
                                     "sweep:\n"
                                     "  - {key: duration, values: [1min, 2min]}\n"
                                     "schemes:\n"
                                     "  - name: ours\n"
                                     "    riders: [{scheme: theirs, detector: pingmesh}]\n"
                                     "  - {name: fewer, set: [probing.probes_per_visit=2]}\n" +
                                     seeds + "\n"),
                       choice);
}

/// Numbers without meaning, each another, so that a swapped column shows.
inline CampaignResult fake_result(std::uint64_t seed, const std::string& scheme) {
  const auto s = static_cast<double>(seed);
  CampaignResult result;
  result.run.seed = seed;
  result.run.scheme = scheme;
  result.run.fingerprint = "f-" + std::to_string(seed) + scheme;
  result.run.simulated_s = s + 0.1;
  result.run.wall_s = s + 0.2;
  result.run.rnic_days = s + 0.3;
  result.run.probes = seed + (std::uint64_t{1} << 40);
  result.run.sweep_s = s + 0.4;
  result.run.false_positives = 3;
  result.run.duplicates = 4;
  CampaignFault fault;
  fault.kind = "crc-error";
  fault.component = "link(a, b)";
  fault.symptom = Symptom::kLatency;
  fault.visible = true;
  fault.status = FaultStatus::kDetected;
  fault.injected_s = s + 0.5;
  fault.time_zero_s = s + 0.6;
  fault.time_to_detect_s = s + 0.7;
  fault.information_bound_s = s + 0.8;
  fault.loss_ratio = 1.0 / (3.0 + s);
  fault.latency_factor = s + 0.9;
  fault.placement = Placement::kCorrect;
  fault.top1_credit = 0.25;
  fault.set_size = 7;
  result.faults.push_back(fault);
  fault.fault = 1;
  fault.visible = false;
  fault.host_visible = true;
  fault.gray = true;
  fault.status = FaultStatus::kMissed;
  fault.time_zero_s.reset();
  fault.time_to_detect_s.reset();
  fault.placement = Placement::kNotJudged;
  result.faults.push_back(fault);
  CampaignIncident incident;
  incident.status = IncidentStatus::kMatched;
  incident.fault = 0;
  incident.opened_s = s + 1.1;
  incident.layer = Layer::kHost;
  incident.symptom = Symptom::kUnreachable;
  incident.component = "link link(a, b)";
  incident.candidates = 2;
  incident.pairs = 5;
  incident.stage = "loss-rule";
  result.incidents.push_back(incident);
  incident.incident = 1;
  incident.status = IncidentStatus::kFalsePositive;
  incident.fault.reset();
  result.incidents.push_back(incident);
  return result;
}

inline std::vector<CampaignResult> fake_run(const Scenario& scenario,
                                            const std::string& scheme,
                                            std::span<const Rider> riders) {
  std::vector<CampaignResult> results = {fake_result(scenario.seed, scheme)};
  for (const Rider& rider : riders) {
    results.push_back(fake_result(scenario.seed + 1000, rider.scheme));
  }
  return results;
}

inline CampaignData head_of(const CampaignPlan& plan) {
  CampaignData head;
  head.name = plan.file.name;
  head.file_hash = "0123456789abcdef";
  head.commit = "c0ffee";
  head.command = "bonescan campaign";
  for (const PlannedCell& planned : plan.cells) {
    head.cells.push_back(planned.cell);
  }
  return head;
}

/// All there is, in words; `wall_s` aside, which no two runs have in common.
inline std::vector<std::string> lines_of(const CampaignData& data) {
  std::vector<std::string> lines;
  for (const CampaignCell& cell : data.cells) {
    lines.push_back(fmt::format("cell {}: {}", cell.cell, cell_text(cell)));
  }
  const auto key = [](const auto& row) {
    return fmt::format("{}/{}/{}", row.cell, row.seed, row.scheme);
  };
  const auto or_none = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("none");
  };
  for (const CampaignRun& run : data.runs) {
    lines.push_back(fmt::format("run {}: {} {} {} {} {} {} {} '{}'",
                                key(run),
                                run.fingerprint,
                                run.simulated_s,
                                run.rnic_days,
                                run.probes,
                                run.sweep_s,
                                run.false_positives,
                                run.duplicates,
                                run.failure));
  }
  for (const CampaignFault& fault : data.faults) {
    lines.push_back(fmt::format("fault {}/{}: {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
                                key(fault),
                                fault.fault,
                                fault.kind,
                                fault.component,
                                to_string(fault.symptom),
                                fault.visible,
                                fault.host_visible,
                                to_string(fault.status),
                                fault.gray,
                                fault.injected_s,
                                or_none(fault.time_zero_s),
                                or_none(fault.time_to_detect_s),
                                fault.information_bound_s,
                                fault.loss_ratio,
                                fault.latency_factor,
                                to_string(fault.placement),
                                fault.top1_credit,
                                fault.set_size));
  }
  for (const CampaignIncident& incident : data.incidents) {
    lines.push_back(fmt::format("incident {}/{}: {} {} {} {} {} {} {} {} {}",
                                key(incident),
                                incident.incident,
                                to_string(incident.status),
                                or_none(incident.fault),
                                incident.opened_s,
                                to_string(incident.layer),
                                to_string(incident.symptom),
                                incident.component,
                                incident.candidates,
                                incident.pairs,
                                incident.stage));
  }
  return lines;
}

}  // namespace bonescan::fakes
