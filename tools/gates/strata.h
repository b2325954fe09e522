// Figures of a campaign: over all faults, by kind, symptom or class of failure, and for a mix of
// kinds as it is in production.
//
// The definitions are those of tools/evaluate/METHODS.md; here they are counted over many runs.
// Bounds are one-sided, each at StrataOptions::confidence: Clopper-Pearson for ratios, Poisson for
// rates, a bootstrap over seeds for times.
// Invariants: 1. a run that failed gives no fault and no exposure, and is counted; 2. undecided
// faults and deaths of agents are in no ratio, and are counted; 3. what is undefined is nullopt.
#pragma once

#include "tools/campaign/campaign_rows.h"
#include "tools/evaluate/bounds.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bonescan {

enum class StratifyBy {
  kKind,
  kSymptom,
  kClass,  ///< FaultKind::failure_class; "other" for faults that have no named kind
};

enum class SeedChoice {
  kAll,
  kOdd,
  kEven
};

struct StrataOptions {
  double confidence = kClaimConfidence;
  std::uint64_t bootstrap_seed = 1;
  std::size_t resamples = 2000;  ///< 0: times have no bounds
  double faults_per_day = kReferenceFaultsPerDay;
};

/// `successes` of `trials` with exact one-sided bounds.
struct Proportion {
  std::size_t successes = 0;
  std::size_t trials = 0;
  Estimate ratio{};
};

Proportion make_proportion(std::size_t successes, std::size_t trials, double confidence);

/// From time zero, in seconds.
struct DelayFigures {
  std::size_t found = 0;  ///< what mean, median and p95 are over
  Estimate mean_s{};
  Estimate median_s{};
  Estimate p95_s{};
  Estimate mean_with_misses_s{};  ///< misses count as MatchingRules says
};

struct Stratum {
  std::string name{};
  std::size_t faults = 0;  ///< decided
  std::size_t visible = 0;
  std::size_t host_visible = 0;
  std::size_t found = 0;
  std::size_t missed = 0;
  std::size_t missed_visible = 0;
  std::size_t undecided = 0;
  std::size_t agent_deaths = 0;
  std::size_t placed_right = 0;  ///< of the found
  std::size_t placed_wrong = 0;
  std::size_t abstained = 0;
  Proportion recall{};
  Proportion recall_visible{};
  Proportion recall_host_visible{};
  Proportion localization{};      ///< placed right of found
  DelayFigures time_to_detect{};  ///< of abrupt faults; in a stratum of gray ones too
};

/// One scheme of a campaign as a whole.
struct CampaignFigures {
  std::string scheme{};
  std::size_t runs = 0;         ///< that could be made
  std::size_t failed_runs = 0;  ///< that could not
  std::size_t false_positives = 0;
  std::size_t duplicates = 0;
  std::uint64_t probes = 0;
  double rnic_days = 0.0;
  Stratum all{};
  Proportion precision{};                 ///< as measured, at the campaign's own prevalence
  Estimate false_alarms_per_fleet_day{};  ///< per kReferenceRnics RNIC-days
  Estimate precision_restated{};          ///< at StrataOptions::faults_per_day
};

/// Figures as they would be if kinds came in given shares.
struct MixFigures {
  double weight = 0.0;                 ///< sum of the weights of kinds that were tried
  std::vector<std::string> missing{};  ///< kinds with a weight and no decided fault
  std::vector<std::string> unused{};   ///< kinds that were tried and have no weight
  // All undefined if a kind is missing.
  Estimate recall{};
  Estimate recall_visible{};  ///< kinds without a visible fault are left out
  Estimate localization{};    ///< kinds count by weight times recall
  Estimate precision_restated{};
};

using KindWeights = std::vector<std::pair<std::string, double>>;

/// What a fault counts under.
std::string stratum_name(const CampaignFault& fault, StratifyBy by);

/// Names, in order, each once.
std::vector<std::string> schemes_of(const CampaignData& data);

/// The rows of some seeds: what is tuned on even ones is reported on odd ones.
CampaignData with_seeds(const CampaignData& data, SeedChoice choice);

CampaignFigures figures_of(const CampaignData& data,
                           std::string_view scheme,
                           const StrataOptions& options = {});

/// By name; strata without a fault do not occur.
std::vector<Stratum> strata_of(const CampaignData& data,
                               std::string_view scheme,
                               StratifyBy by,
                               const StrataOptions& options = {});

/// @param weights not negative; they need not sum to one
/// @paper Zou, Huang and Zhang 2009, CSDA 53:1080: bounds of a weighted sum of proportions from the
/// bounds of each
MixFigures mix_of(const CampaignData& data,
                  std::string_view scheme,
                  const KindWeights& weights,
                  const StrataOptions& options = {});

}  // namespace bonescan
