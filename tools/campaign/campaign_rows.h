// What a campaign leaves behind, as plain values: one row for each run, fault and incident.
//
// A campaign is a grid of cells (one choice of every swept key) times seeds.  Of each (cell, seed)
// the same world is run once for every scheme: a configuration of detection, or a published method.
// Rows of one (cell, seed) are paired: same world, same failures, other eyes.
// campaign_store.h keeps them in SQLite; gates, tables and plots read nothing else.
#pragma once

#include "tools/evaluate/evaluate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {

/// One run by one scheme.  (cell, seed, scheme) is unique.
struct CampaignRun {
  std::uint32_t cell = 0;
  std::uint64_t seed = 0;
  std::string scheme;
  std::string fingerprint;
  double simulated_s = 0.0;
  double wall_s = 0.0;
  double rnic_days = 0.0;  ///< exposure to false alarms
  std::uint64_t probes = 0;
  double sweep_s = 0.0;
  std::uint32_t false_positives = 0;
  std::uint32_t duplicates = 0;
  std::string failure{};  ///< not empty: the run could not be made, and why
};

/// One fault of one run, as judged.
struct CampaignFault {
  std::uint32_t cell = 0;
  std::uint64_t seed = 0;
  std::string scheme;
  std::uint32_t fault = 0;  ///< of the run, from 0
  std::string kind;
  std::string component;
  Symptom symptom = Symptom::kLoss;
  bool visible = false;
  bool host_visible = false;  ///< a look at the host would show it
  FaultStatus status = FaultStatus::kUndecided;
  bool gray = false;  ///< not abrupt: its deadline is that of its information bound, or of hosts
  double injected_s = 0.0;
  std::optional<double> time_zero_s;
  std::optional<double> time_to_detect_s;  ///< from time zero
  double information_bound_s = 0.0;        ///< 0: not known
  double loss_ratio = 0.0;
  double latency_factor = 1.0;
  Placement placement = Placement::kNotJudged;
  double top1_credit = 0.0;
  std::uint32_t set_size = 0;
};

/// One incident of one run, as judged.
struct CampaignIncident {
  std::uint32_t cell = 0;
  std::uint64_t seed = 0;
  std::string scheme;
  std::uint32_t incident = 0;
  IncidentStatus status = IncidentStatus::kUndecided;
  std::optional<std::uint32_t> fault{};
  double opened_s = 0.0;
  Layer layer = Layer::kUndetermined;
  Symptom symptom = Symptom::kLoss;
  std::string component{};  ///< the first candidate, or empty
  std::uint32_t candidates = 0;
  std::uint32_t pairs = 0;
  std::string stage{};  ///< of the first evidence that is not clear
};

/// One cell: what was swept to which value, in the order of the file.
struct CampaignCell {
  std::uint32_t cell = 0;
  std::vector<std::pair<std::string, std::string>> values;
};

struct CampaignData {
  std::string name;
  std::string file_hash;  ///< fingerprint of the campaign file and the scenario it starts from
  std::string commit;
  std::string command;
  std::vector<CampaignCell> cells;
  std::vector<CampaignRun> runs;            ///< by (cell, seed, scheme)
  std::vector<CampaignFault> faults;        ///< by (cell, seed, scheme, fault)
  std::vector<CampaignIncident> incidents;  ///< by (cell, seed, scheme, incident)
};

}  // namespace bonescan
