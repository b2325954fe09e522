#include "tools/gates/strata.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace bonescan {
namespace {

struct Part {
  double weight = 0.0;
  std::size_t successes = 0;
  std::size_t trials = 0;
};

/// Weighted mean of proportions.  The distance to a bound is the root of the sum of squares of the
/// parts' weighted distances to their exact bounds.
Estimate weighted_mean(const std::vector<Part>& parts, double confidence) {
  double weight = 0.0;
  double sum = 0.0;
  double below = 0.0;
  double above = 0.0;
  for (const Part& part : parts) {
    const Estimate ratio = proportion_estimate(part.successes, part.trials, confidence);
    if (!ratio.value) {
      continue;
    }
    weight += part.weight;
    sum += part.weight * *ratio.value;
    below += std::pow(part.weight * (*ratio.value - *ratio.lower), 2);
    above += std::pow(part.weight * (*ratio.upper - *ratio.value), 2);
  }
  if (!(weight > 0)) {
    return {};
  }
  return {.value = sum / weight,
          .lower = std::max(0.0, (sum - std::sqrt(below)) / weight),
          .upper = std::min(1.0, (sum + std::sqrt(above)) / weight)};
}

/// The parts of every figure of a mix, from the strata of its kinds.
struct Parts {
  std::vector<Part> recall;
  std::vector<Part> recall_visible;
  std::vector<Part> localization;

  void add(const Stratum& kind, double weight) {
    recall.push_back({weight, kind.found, kind.faults});
    recall_visible.push_back({weight, kind.recall_visible.successes, kind.visible});
    const double found = weight * kind.recall.ratio.value.value_or(0.0);
    localization.push_back({found, kind.placed_right, kind.found});
  }
};

/// Adds what was tried and has a weight; names what is missing on either side.
Parts parts_of(const std::vector<Stratum>& strata, const KindWeights& weights, MixFigures& mix) {
  std::map<std::string, double> open(weights.begin(), weights.end());
  Parts parts;
  for (const Stratum& kind : strata) {
    const auto weight = open.find(kind.name);
    if (kind.faults == 0) {
      continue;
    }
    if (weight == open.end() || !(weight->second > 0)) {
      mix.unused.push_back(kind.name);
      continue;
    }
    mix.weight += weight->second;
    parts.add(kind, weight->second);
    open.erase(weight);
  }
  for (const auto& [name, weight] : open) {
    if (weight > 0) {
      mix.missing.push_back(name);
    }
  }
  return parts;
}

}  // namespace

MixFigures mix_of(const CampaignData& data,
                  std::string_view scheme,
                  const KindWeights& weights,
                  const StrataOptions& options) {
  StrataOptions without_bootstrap = options;
  without_bootstrap.resamples = 0;
  MixFigures mix;
  const Parts parts =
      parts_of(strata_of(data, scheme, StratifyBy::kKind, without_bootstrap), weights, mix);
  if (!mix.missing.empty()) {
    return mix;
  }
  mix.recall = weighted_mean(parts.recall, options.confidence);
  mix.recall_visible = weighted_mean(parts.recall_visible, options.confidence);
  mix.localization = weighted_mean(parts.localization, options.confidence);
  const CampaignFigures whole = figures_of(data, scheme, without_bootstrap);
  mix.precision_restated =
      restated_precision([&](double confidence) { return weighted_mean(parts.recall, confidence); },
                         whole.false_positives,
                         whole.rnic_days / kReferenceRnics,
                         options.faults_per_day,
                         options.confidence);
  return mix;
}

}  // namespace bonescan
