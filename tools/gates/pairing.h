// A campaign and its baseline, put side by side: the same worlds, the same failures, other eyes.
//
// Invariants: 1. runs are paired by (cell, seed), faults by (cell, seed, fault); 2. a pair is known
// only if both runs could be made, both have the fault, both judged it, and it is the same fault:
// same kind, component and moment; 3. every row of either side is in a known pair, is counted as
// unknown, or is a death of an agent on both sides.
#pragma once

#include "tools/gates/strata.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace bonescan {

/// One fault under two schemes; both decided.
struct FaultPair {
  const CampaignFault* first = nullptr;  ///< the baseline's
  const CampaignFault* second = nullptr;
};

struct RunPair {
  const CampaignRun* first = nullptr;
  const CampaignRun* second = nullptr;
};

/// What cannot be compared, each counted once.
struct PairingGaps {
  std::size_t runs_missing = 0;    ///< in one of the two only, or failed in one of them
  std::size_t runs = 0;            ///< in either
  std::size_t faults_missing = 0;  ///< in one of the two only
  std::size_t other_faults = 0;    ///< not the same kind, component or moment: another world
  std::size_t undecided = 0;       ///< in one of the two or in both
  std::size_t faults = 0;          ///< in either

  /// The larger of the shares of runs and of faults; 1 if there is nothing at all.
  double share() const;
};

/// Points into both campaigns, which must outlive it.
struct Pairing {
  std::vector<FaultPair> faults;  ///< by (cell, seed, fault)
  std::vector<RunPair> runs;      ///< by (cell, seed)
  PairingGaps gaps{};
};

Pairing pair_campaigns(const CampaignData& baseline,
                       std::string_view baseline_scheme,
                       const CampaignData& candidate,
                       std::string_view scheme);

}  // namespace bonescan
