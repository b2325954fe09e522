// Small pieces of text that the study's files share.
#pragma once

#include "tools/study/study_runs.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bonescan {

/// 0 of nothing.
double share(std::uint32_t part, std::uint32_t all);

/// Clopper-Pearson, 95 %.
std::string interval_text(std::uint32_t part, std::uint32_t all);

std::optional<double> recall_of(const EdgeCount& count);
std::string recall_text(const EdgeCount& count);

/// Scopes that were used, and in how many runs.
std::string scopes_text(const StudySummary& summary);

std::string miss_text(const StudyMiss& miss);

/// All kinds together: stated confidence against the share of runs in which nothing was missed.
std::vector<ReliabilityBin> pooled(const StudyResults& results);

}  // namespace bonescan
