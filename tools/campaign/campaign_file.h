// What a campaign file says: a scenario, what is swept over, the schemes that watch, and the seeds.
//
//   scenario: ../smoke/crc-error.yaml          # relative to this file
//   set: [duration=5min]                       # of all runs
//   sweep:
//     - {key: "faults[0].loss", values: [1%, 5%]}
//     - name: load
//       values: [{name: idle}, {name: busy, set: [load.model=links]}]
//   constraint: [{not: {load: busy, "faults[0].loss": 1%}}]
//   seeds: {from: 1, to: 99, parity: odd}      # or repeat: 50
//   schemes:
//     - {name: ours, riders: [{scheme: pingmesh, detector: pingmesh}]}
// README.md beside this file has every key.  The names of riders are checked against those that
// there are; settings are checked when the plan parses every cell (campaign_plan.h).
// Invariants of a CampaignFile: 1. names of sweeps, of the values of a sweep, and of schemes with
// their riders are unique; 2. constraints name sweeps and values that there are.
// Thread-compatible.
#pragma once

#include "scenarios/schema/source_error.h"
#include "tools/campaign/memory_run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

/// "path.to.key=value", and where it stands.
struct CampaignSetting {
  std::string text;
  Position at;
  std::string path;  ///< in the campaign file, "sweep[0].values[1].set[0]"
};

struct SweepValue {
  std::string name;
  std::vector<CampaignSetting> settings;
};

struct Sweep {
  std::string name;
  std::vector<SweepValue> values;
};

/// Which cells stay: those that match (only), or those that do not (not).
struct CellRule {
  enum class Keep : std::uint8_t {
    kMatching,
    kOthers
  };

  /// One of these values of this sweep, as indices.
  struct Condition {
    std::size_t sweep = 0;
    std::vector<std::size_t> values;
  };

  Keep keep = Keep::kOthers;
  std::vector<Condition> conditions;  ///< a cell matches if all hold
};

struct CampaignScheme {
  std::string name;
  std::vector<CampaignSetting> settings;
  std::vector<Rider> riders;
};

enum class CampaignParity : std::uint8_t {
  kAll,
  kOdd,
  kEven
};

enum class SeedSpread : std::uint8_t {
  kEveryCell,  ///< every cell runs every seed
  kInTurn,     ///< every seed runs in one cell, dealt out in turn
};

struct CampaignSeeds {
  std::uint64_t from = 1;
  std::optional<std::uint64_t> to;  ///< included; absent: as many as `repeat` needs
  CampaignParity parity = CampaignParity::kAll;
  SeedSpread spread = SeedSpread::kEveryCell;
};

/// A parameter that is drawn anew for every cell.
struct DrawnKey {
  enum class Law : std::uint8_t {
    kUniform,
    kLogUniform,
    kInteger,  ///< both ends included
    kChoice
  };

  std::string name;  ///< the key, unless another is given
  std::string key;   ///< may be empty where every choice sets its own
  Law law = Law::kChoice;
  double low = 0.0;
  double high = 0.0;
  std::string unit;                 ///< of both ends, "%", "ms", ""
  std::vector<SweepValue> choices;  ///< kChoice
  Position at{};
  std::string path{};  ///< in the campaign file
};

struct CampaignDraw {
  std::uint32_t count = 1;  ///< draws of every cell of the sweeps
  std::vector<DrawnKey> keys;
};

struct CampaignFile {
  std::string name;
  std::string description;
  std::string file;           ///< as given
  std::string scenario_file;  ///< relative to where the program runs
  Position scenario_at;
  std::vector<CampaignSetting> settings;
  std::vector<Sweep> sweeps;
  std::vector<CellRule> rules;
  std::optional<CampaignDraw> draw;
  std::optional<std::uint32_t> repeat;  ///< seeds of a cell
  CampaignSeeds seeds;
  std::vector<CampaignScheme> schemes;
};

/// Names that riders may have.
struct RiderNames {
  std::vector<std::string> detectors;
  std::vector<std::string> localizers;
};

/// @throws ConfigError
CampaignFile load_campaign_file(const std::string& file, const RiderNames& riders);

/// The same from memory; `file` is used in messages and to find the scenario.
CampaignFile parse_campaign_file(std::string_view text,
                                 const std::string& file,
                                 const RiderNames& riders);

}  // namespace bonescan
