// The judgement of a campaign by a file of gates.
//
// A gate is passed only if its bound proves what it asks.  Where the figure itself is good but the
// trials are too few to prove it, the gate is undecided: not red, but never green either.  Unknown
// is not healthy: more runs or faults without a verdict than a gate accepts fail it.
// Invariants: 1. a gate's verdict is that of its worst stratum; 2. without a trial nothing is
// passed.
#pragma once

#include "tools/gates/gate.h"
#include "tools/gates/pairing.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bonescan {

enum class GateVerdict : std::uint8_t {
  kFailed,
  kUndecided,  ///< too few trials
  kPassed,
  kNotJudged,  ///< a stratum without a trial, where others have some
};

std::string_view to_string(GateVerdict verdict);

/// One stratum of a gate, or all faults.
struct StratumVerdict {
  std::string stratum{};
  GateVerdict verdict = GateVerdict::kUndecided;
  std::size_t trials = 0;  ///< faults, incidents, pairs; for false alarms the runs
  Estimate estimate{};     ///< the figure; against a baseline the difference, candidate minus it
  std::optional<double> decisive{};  ///< the number that was held against the limit
  std::optional<PairedCounts> pairs{};
  std::optional<double> mcnemar_p{};
  std::optional<std::size_t> trials_needed{};  ///< if undecided, and if any number would do
  std::string reason{};                        ///< in words, where the numbers do not say it
};

/// Runs and faults that tell nothing.
struct UnknownCounts {
  std::size_t failed_runs = 0;
  std::size_t runs = 0;
  std::size_t undecided = 0;
  std::size_t faults = 0;                ///< decided or not
  std::optional<PairingGaps> pairing{};  ///< against a baseline

  /// The largest of the shares; 1 if there is no run.
  double share() const;
};

struct GateResult {
  Gate gate{};
  GateVerdict verdict = GateVerdict::kUndecided;
  std::string interval{};  ///< which interval decided, in words
  UnknownCounts unknown{};
  std::vector<StratumVerdict> strata{};  ///< the worst first; never empty
};

/// A fault that the baseline found, or placed, and the candidate did not.
struct LostFault {
  std::string scheme{};
  CampaignFault fault{};    ///< as the candidate has it
  bool was_placed = false;  ///< still found, but no longer placed right
};

struct GateReport {
  std::string campaign{};
  std::string commit{};
  std::string command{};
  std::string baseline_commit{};  ///< empty: no baseline
  std::vector<GateResult> results{};
  std::vector<LostFault> lost{};
  std::size_t gained = 0;  ///< faults that the candidate alone found

  bool is_green() const;
};

/// @param baseline null if there is none
/// @throws ConfigError if a gate asks for what the campaigns do not have: a scheme, a baseline, a
/// baseline of the same campaign file
GateReport judge_campaign(const GateFile& gates,
                          const CampaignData& candidate,
                          const CampaignData* baseline);

}  // namespace bonescan
