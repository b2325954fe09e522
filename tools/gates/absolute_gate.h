// Gates on one campaign alone: a figure against a fixed limit.
#pragma once

#include "tools/gates/judge.h"

#include <string>
#include <vector>

namespace bonescan {

/// In the order of the strata's names; at least one.
/// REQUIRES: the gate is not paired.
std::vector<StratumVerdict> judge_absolute(const Gate& gate,
                                           const StrataOptions& options,
                                           const CampaignData& data);

/// Which interval decides, in words.
std::string interval_of_absolute(const Gate& gate, const StrataOptions& options);

/// "over 2000 draws of seeds (bootstrap seed 1)".
std::string bootstrap_words(const StrataOptions& options);

/// Without the bootstrap where no time is asked for.
StrataOptions options_for(const Gate& gate, const StrataOptions& options);

}  // namespace bonescan
