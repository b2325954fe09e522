// What the study of the paper's evaluation shows, as markdown tables and SVG charts.
//
// Intuition: a campaign leaves rows; a reader wants to see the paper's number, ours in the paper's
// configuration, and ours, side by side, with what is not known of them.  Figures of the paper are
// marked as quoted, everything else is simulated.  Definitions: tools/evaluate/METHODS.md.
// Pure functions.
#pragma once

#include "sim/base/error.h"
#include "tools/campaign/campaign_rows.h"
#include "tools/evaluate/run_data.h"
#include "tools/gates/strata.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bonescan {

/// Schemes in the order of the campaign file; the first is ours.
std::string headline_table(const CampaignData& types);

/// One row a kind: where it stands in Table 1, who can see it, and what became of it.
std::string kinds_table(const CampaignData& types);

/// By what a job would notice: unconnectivity, loss, latency.
std::string symptoms_table(const CampaignData& types);

/// How often each kind would arise in production in the world of a scenario: rates of its classes,
/// how many of each the jobs use, and shares within a class (faults/processes/METHODS.md).
/// @throws ConfigError if the scenario cannot be read
KindWeights production_weights(const std::string& scenario_file);

/// As production would have it.  Kinds of which no failure was tried are left out and named.
std::string mix_table(const CampaignData& types, const KindWeights& weights);

/// One row a world and scheme.
std::string worlds_table(const CampaignData& worlds);

/// What is required of the first scheme, and whether it holds.  @param null may be empty
std::string required_table(const CampaignData& types, const CampaignData& null);

/// Distribution of times to detect, one line a scheme.
std::string delays_svg(const CampaignData& types);

/// Round trips of the slowest pair of a run over its time: the paper's Figure 18.
struct Episode {
  std::vector<std::pair<double, double>> rtt_us;  ///< (seconds, median of a visit)
  double lost_share = 0.0;
  std::string summary{};  ///< what was found, when, by which stage
};

/// @errors those of RunLogReader::open; kNotFound if nothing was ever late
Expected<Episode> read_episode(const std::string& run_sqlite);
std::string episode_svg(const Episode& episode);

/// Lives, sizes, starts and arrivals of a cloud of containers, beside what the paper measured.
std::string environment_table(const RunData& cloud);

}  // namespace bonescan
