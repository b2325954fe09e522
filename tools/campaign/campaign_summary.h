// What a campaign comes to, by scheme: the figures of an evaluation over all its runs.
//
// The same definitions as for one run (tools/evaluate/METHODS.md), over the rows of all of them.
// Runs that failed count as failed and in nothing else.
#pragma once

#include "tools/campaign/campaign_rows.h"
#include "tools/report/report_json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bonescan {

struct SchemeSummary {
  std::string scheme;
  std::size_t runs = 0;
  std::size_t failed = 0;  ///< of the runs
  std::size_t faults = 0;  ///< decided
  std::size_t visible = 0;
  std::size_t found = 0;
  std::size_t missed = 0;
  std::size_t undecided = 0;
  std::size_t false_positives = 0;
  std::size_t duplicates = 0;
  Ratio precision{};
  Ratio recall{};
  Ratio recall_visible{};
  Ratio placed{};                 ///< correct of the found ones that were judged
  TimeToDetect time_to_detect{};  ///< of found faults with an abrupt deadline
  double rnic_days = 0.0;
  double simulated_s = 0.0;
  double wall_s = 0.0;
  std::uint64_t probes = 0;
};

/// @param schemes in the wanted order; those without a run are left out
std::vector<SchemeSummary> summarize(const CampaignData& campaign,
                                     const std::vector<std::string>& schemes);

std::string summary_table(const std::vector<SchemeSummary>& summaries);

Json summary_json(const CampaignData& campaign, const std::vector<SchemeSummary>& summaries);

}  // namespace bonescan
