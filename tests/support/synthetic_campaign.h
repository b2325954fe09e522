// Campaigns made by hand, with rates like those of real ones.
#pragma once

#include "sim/base/rng_stream.h"
#include "tools/campaign/campaign_rows.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace bonescan {

struct SyntheticRates {
  std::size_t runs = 500;
  std::size_t faults_per_run = 1;
  double recall = 0.995;
  double localization = 0.99;
  double visible = 0.96;
  double false_positive = 0.004;  ///< of a run
  double rnic_days = 5.0;         ///< of a run
  double mean_delay_s = 2.5;
  std::string scheme = "bonescan";
};

inline CampaignRun run_of(std::uint64_t seed, const std::string& scheme) {
  CampaignRun run;
  run.seed = seed;
  run.scheme = scheme;
  return run;
}

inline CampaignFault fault_of(std::uint64_t seed, const std::string& scheme) {
  CampaignFault fault;
  fault.seed = seed;
  fault.scheme = scheme;
  return fault;
}

/// One cell, seeds from `first_seed` on; everything drawn from the seed of its run.
inline CampaignData synthetic_campaign(std::uint64_t first_seed, const SyntheticRates& rates) {
  static constexpr std::array<const char*, 6> kKinds = {
      "container-crash", "crc-error", "gid-change", "port-down", "port-flapping", "switch-offline"};
  CampaignData data{.name = "synthetic",
                    .file_hash = "00",
                    .commit = "test",
                    .command = "bonescan campaign synthetic.yaml --seeds 1..500",
                    .cells = {{.cell = 0, .values = {}}},
                    .runs = {},
                    .faults = {},
                    .incidents = {}};
  for (std::uint64_t seed = first_seed; seed < first_seed + rates.runs; ++seed) {
    const RngStream draws(seed, Purpose::kTest, 0);
    CampaignRun run = run_of(seed, rates.scheme);
    run.rnic_days = rates.rnic_days;
    run.false_positives = draws.open01_at(0) < rates.false_positive ? 1 : 0;
    data.runs.push_back(run);
    for (std::size_t f = 0; f < rates.faults_per_run; ++f) {
      const RngStream stream(seed, Purpose::kTest, static_cast<std::uint32_t>(f + 1));
      CampaignFault fault = fault_of(seed, rates.scheme);
      fault.fault = static_cast<std::uint32_t>(f);
      fault.kind = kKinds[stream.at(0) % kKinds.size()];
      fault.component = "link a";
      fault.symptom = stream.at(1) % 2 == 0 ? Symptom::kUnreachable : Symptom::kLatency;
      fault.visible = stream.open01_at(2) < rates.visible;
      const bool found = stream.open01_at(3) < rates.recall;
      fault.status = found ? FaultStatus::kDetected : FaultStatus::kMissed;
      if (found) {
        fault.time_to_detect_s = -std::log(stream.open01_at(4)) * rates.mean_delay_s;
        const bool right = stream.open01_at(5) < rates.localization;
        fault.placement = right ? Placement::kCorrect : Placement::kWrong;
        fault.set_size = 1;
        data.incidents.push_back({.cell = 0,
                                  .seed = seed,
                                  .scheme = rates.scheme,
                                  .incident = fault.fault,
                                  .status = IncidentStatus::kMatched,
                                  .fault = fault.fault,
                                  .component = fault.component,
                                  .stage = {}});
      }
      data.faults.push_back(fault);
    }
  }
  return data;
}

/// The fault was not found after all.
inline void lose(CampaignFault& fault) {
  fault.status = FaultStatus::kMissed;
  fault.time_to_detect_s.reset();
  fault.placement = Placement::kNotJudged;
  fault.set_size = 0;
}

/// Each incident is dropped with this chance.  Its fault is missed then, unless a further incident
/// of it stays that opened within half a minute of time zero.
inline void drop_incidents(CampaignData& data, double chance, std::uint64_t seed) {
  constexpr double kDeadlineS = 30.0;  // the least of tools/evaluate/METHODS.md
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::string, std::uint32_t>;
  std::map<Key, CampaignFault*> faults;
  for (CampaignFault& fault : data.faults) {
    faults[{fault.cell, fault.seed, fault.scheme, fault.fault}] = &fault;
  }
  const RngStream stream(seed, Purpose::kGateDrop, 0);
  std::uint64_t row = 0;
  std::vector<CampaignIncident> kept;
  std::map<Key, CampaignFault*> orphans;
  for (const CampaignIncident& incident : data.incidents) {
    if (stream.open01_at(row++) >= chance) {
      kept.push_back(incident);
    } else if (incident.fault && incident.status == IncidentStatus::kMatched) {
      const Key key{incident.cell, incident.seed, incident.scheme, *incident.fault};
      orphans[key] = faults.at(key);
    }
  }
  for (auto& [key, fault] : orphans) {
    std::optional<double> next_s;
    for (const CampaignIncident& incident : kept) {
      if (incident.status == IncidentStatus::kDuplicate && incident.fault &&
          Key{incident.cell, incident.seed, incident.scheme, *incident.fault} == key) {
        const double delay_s = incident.opened_s - fault->time_zero_s.value_or(0.0);
        if (delay_s >= 0 && delay_s <= kDeadlineS && (!next_s || delay_s < *next_s)) {
          next_s = delay_s;
        }
      }
    }
    if (next_s) {
      fault->time_to_detect_s = next_s;
    } else {
      lose(*fault);
    }
  }
  data.incidents = std::move(kept);
}

}  // namespace bonescan
