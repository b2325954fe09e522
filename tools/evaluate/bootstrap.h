// Cluster bootstrap: how far a figure moves when other seeds had been drawn.
//
// Intuition: faults of one run share a world, so they are no independent trials; seeds are.  Whole
// clusters are drawn with replacement, as many as there are, and the figure is computed anew; the
// quantiles of many such figures are its bounds (percentile method).
// Invariants: 1. the draws are a function of (seed, replicate, position) alone; 2. with fewer than
// kLeastClusters clusters, or if more than one in twenty replicates is undefined, there are no
// bounds: a bootstrap of a handful of seeds promises more than it keeps.
// Rough model: O(resamples x (clusters + cost of the figure)).
// @paper Efron and Tibshirani 1993, chapters 13 and 17; Davison and Hinkley 1997, section 3.8
#pragma once

#include "sim/base/rng_stream.h"
#include "tools/evaluate/bounds.h"
#include "tools/evaluate/statistics.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bonescan {

/// @ours below some twenty clusters the percentile method's coverage is known to be poor
inline constexpr std::size_t kLeastClusters = 20;

struct BootstrapOptions {
  double confidence = kClaimConfidence;  ///< of each bound
  std::uint64_t seed = 1;
  std::size_t resamples = 2000;
};

/// Figures of a draw of clusters; an undefined one is nullopt.
template <std::size_t kFigures>
using Figures = std::array<std::optional<double>, kFigures>;

/// Fills `drawn` with indices below `clusters`, for one replicate.
void draw_clusters(const BootstrapOptions& options,
                   std::uint32_t replicate,
                   std::size_t clusters,
                   std::vector<std::uint32_t>& drawn);

/// Bounds from the replicates of one figure.  @param replicates the defined ones
void bound_by_replicates(std::span<const double> replicates,
                         const BootstrapOptions& options,
                         Estimate& estimate);

/// @param figures_of_draw Figures<kFigures>(std::span<const std::uint32_t>): of the clusters with
/// these indices, which may repeat
template <std::size_t kFigures, class FiguresOfDraw>
std::array<Estimate, kFigures> cluster_bootstrap(std::size_t clusters,
                                                 const BootstrapOptions& options,
                                                 FiguresOfDraw figures_of_draw) {
  std::vector<std::uint32_t> drawn(clusters);
  for (std::size_t i = 0; i < clusters; ++i) {
    drawn[i] = static_cast<std::uint32_t>(i);
  }
  std::array<Estimate, kFigures> estimates;
  const Figures<kFigures> observed = figures_of_draw(std::span<const std::uint32_t>(drawn));
  for (std::size_t f = 0; f < kFigures; ++f) {
    estimates[f].value = observed[f];
  }
  if (clusters < kLeastClusters) {
    return estimates;
  }
  std::array<std::vector<double>, kFigures> replicates;
  for (std::size_t r = 0; r < options.resamples; ++r) {
    draw_clusters(options, static_cast<std::uint32_t>(r), clusters, drawn);
    const Figures<kFigures> figures = figures_of_draw(std::span<const std::uint32_t>(drawn));
    for (std::size_t f = 0; f < kFigures; ++f) {
      if (figures[f]) {
        replicates[f].push_back(*figures[f]);
      }
    }
  }
  for (std::size_t f = 0; f < kFigures; ++f) {
    bound_by_replicates(replicates[f], options, estimates[f]);
  }
  return estimates;
}

}  // namespace bonescan
