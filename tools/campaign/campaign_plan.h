// From a campaign file to the runs that it means, in a fixed order.
//
// The product of all sweeps, the first slowest, less the cells that the constraints leave out; each
// times its draws, seeds and schemes.  One task is one simulation.
// Invariants: 1. tasks are in the order of (cell, seed, scheme); 2. what a task is depends on the
// file and the choice alone; 3. the hash changes when any cell's scenario does, and not with seeds.
// Thread-compatible; scenario_of() may be called by many threads at once.
#pragma once

#include "scenarios/schema/scenario.h"
#include "tools/campaign/campaign_file.h"
#include "tools/campaign/campaign_rows.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// What the command line says instead of the file.
struct PlanChoice {
  struct SeedRange {
    std::uint64_t from = 0;
    std::uint64_t to = 0;  ///< included
  };

  std::optional<SeedRange> seeds{};
  std::optional<CampaignParity> parity{};
  /// Seeds the draws, and moves the file's seeds to where nobody has looked: a commit's hash.
  std::string hold_out{};
  /// Only these of the file's, with their riders; empty: all.  Another choice is another campaign.
  std::vector<std::string> schemes{};
};

/// One simulation.
struct CampaignTask {
  std::uint32_t cell = 0;
  std::uint64_t seed = 0;
  std::uint32_t scheme = 0;  ///< index into CampaignFile::schemes

  friend bool operator==(const CampaignTask&, const CampaignTask&) = default;
};

struct PlannedCell {
  CampaignCell cell;
  std::vector<CampaignSetting> settings;  ///< of the file, the sweeps and the draws, in this order
};

struct CampaignPlan {
  CampaignFile file;
  std::string scenario_text;
  std::vector<PlannedCell> cells;
  std::vector<CampaignTask> tasks;
};

/// @throws ConfigError if the scenario cannot be read, no cell is left, or there are too many runs
CampaignPlan plan_campaign(CampaignFile file, const PlanChoice& choice);

/// @throws ConfigError if a setting does not fit the scenario: at its place in the campaign file
Scenario scenario_of(const CampaignPlan& plan, const CampaignTask& task);

/// What all scenarios of a plan together are.
struct PlanCheck {
  std::string hash;                           ///< 16 hexadecimal digits
  std::vector<std::vector<double>> length_s;  ///< simulated, by cell and scheme
};

/// Reads the scenario of every cell and scheme once.
/// @throws ConfigError
PlanCheck check_plan(const CampaignPlan& plan);

/// "faults[0].loss = 2%, load = busy"; "" if nothing is swept.
std::string cell_text(const CampaignCell& cell);

}  // namespace bonescan
