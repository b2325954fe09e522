// Gates against a baseline: the same failures under two schemes, pair by pair.
#pragma once

#include "tools/gates/judge.h"
#include "tools/gates/pairing.h"

#include <string>
#include <vector>

namespace bonescan {

/// In the order of the strata's names; at least one.
/// REQUIRES: the gate is paired.
std::vector<StratumVerdict> judge_paired(const Gate& gate,
                                         const StrataOptions& options,
                                         const Pairing& pairing);

/// Which interval or test decides, in words.
std::string interval_of_paired(const Gate& gate, const StrataOptions& options);

}  // namespace bonescan
