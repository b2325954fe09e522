// One-sided bounds: what a gate or a claim is decided by.
//
// A claim "at least 98.2 %" is about one side, so all five percent of the risk lie there.  Ratios
// and rates have exact bounds (they never promise more than they keep, however few the trials);
// differences of paired ratios have a score bound.
// Invariant: a bound that is undefined (no trials, no exposure) is nullopt.
#pragma once

#include <cstddef>
#include <optional>

namespace bonescan {

/// Confidence of every one-sided bound, unless it is said otherwise.
inline constexpr double kClaimConfidence = 0.95;

/// A figure with its one-sided lower and upper bound, each at the confidence that was asked for.
struct Estimate {
  std::optional<double> value{};
  std::optional<double> lower{};
  std::optional<double> upper{};
};

/// Exact one-sided bounds of a proportion.  @paper Clopper and Pearson 1934
/// REQUIRES: successes <= trials, 0 < confidence < 1.
Estimate proportion_estimate(std::size_t successes,
                             std::size_t trials,
                             double confidence = kClaimConfidence);

/// Exact one-sided bounds of a Poisson rate.  @paper Garwood 1936
/// @units events per unit of exposure
Estimate rate_estimate(std::size_t count, double exposure, double confidence = kClaimConfidence);

/// Precision at a prevalence, p = R f / (R f + a), with bounds that carry what is not known of the
/// recall R and of the rate a of false alarms.
/// p falls with a and rises with R, so a bound of p is p at bounds of both.  The risk is split
/// (Bonferroni): a tenth of it for the recall, of which much is known, the rest for the alarms.
/// The bound therefore holds at the stated confidence, whatever the truth.
/// @param recall_at what is known of the recall at a given one-sided confidence
/// @ours the tenth; with no false alarm it costs 3.5 % of the bound of a
template <class RecallAt>
Estimate restated_precision(RecallAt recall_at,
                            std::size_t false_positives,
                            double reference_days,
                            double faults_per_day,
                            double confidence = kClaimConfidence) {
  const double risk = 1 - confidence;
  const Estimate recall = recall_at(1 - risk / 10);
  const Estimate alarms = rate_estimate(false_positives, reference_days, 1 - risk * 9 / 10);
  const auto at = [faults_per_day](std::optional<double> found_ratio,
                                   std::optional<double> alarms_per_day) -> std::optional<double> {
    if (!found_ratio || !alarms_per_day) {
      return std::nullopt;
    }
    const double found = *found_ratio * faults_per_day;
    const double all = found + *alarms_per_day;
    return all > 0 ? std::optional(found / all) : std::nullopt;
  };
  return {.value = at(recall.value, alarms.value),
          .lower = at(recall.lower, alarms.upper),
          .upper = at(recall.upper, alarms.lower)};
}

/// Trials without a failure that a claim "at least `ratio`" needs.
/// @formula ln(1 - confidence) / ln(ratio), rounded up
/// REQUIRES: 0 < ratio < 1.
std::size_t trials_without_failure(double ratio, double confidence = kClaimConfidence);

/// What became of the same trials under two schemes.
struct PairedCounts {
  std::size_t both = 0;
  std::size_t only_first = 0;   ///< lost by the second
  std::size_t only_second = 0;  ///< gained by the second
  std::size_t neither = 0;

  std::size_t pairs() const { return both + only_first + only_second + neither; }
};

/// Second minus first, of the share of trials that came out right.
/// The bounds are Tango's: the differences that a one-sided score test, with the discordant rate
/// estimated under each of them, does not reject.  They hold at small discordant counts, where
/// Wald's are far too narrow, and are not zero wide when nothing differs.
/// @paper Tango 1998, Statistics in Medicine 17:891, equations for the restricted estimate
Estimate paired_difference(const PairedCounts& counts, double confidence = kClaimConfidence);

/// Pairs that a non-inferiority test needs at 80 % power if nothing has changed.
/// @formula (z(0.95) + z(0.80))^2 * discordant / margin^2 = 6.18 r / d^2
/// REQUIRES: 0 < margin, 0 <= discordant_ratio.
std::size_t pairs_for_margin(double discordant_ratio, double margin);

}  // namespace bonescan
