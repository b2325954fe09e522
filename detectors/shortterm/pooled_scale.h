// How much a feature of a healthy pair moves from window to window, per class of pairs.
//
// Intuition: ten windows of one pair are far too few to learn the spread of seven features, but
// thousands of pairs of the same kind (path length, rail, load) share one spread.  Each healthy new
// window tells how far it fell from its own pair's mean, so pairs may differ in level and still
// pool their spread.
//
// Model: log features of a pair are level + noise, the noise has variance sd^2 in the whole class.
// A new window minus the mean of n earlier ones has variance sd^2 (n + 1) / n, so its square times
// n / (n + 1) is an unbiased contribution.  Contributions are forgotten exponentially, window by
// window, because load changes.
//
// Invariants: 1. a window is judged with the scale that was known before it (`close_window`);
// 2. sums run in the order of the calls; 3. once trusted, one contribution counts at most
// winsor_sd^2 variances, so a few contaminated pairs cannot blind their class.  Only contributions
// are bounded, never features: a bounded feature would hide the very step we look for.
// Thread-compatible.
#pragma once

#include "detectors/window/features.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

struct PooledScaleOptions {
  double forgetting = 0.98;  ///< weight kept per window: about 25 minutes of 30 s windows @ours
  std::uint64_t minimum_contributions = 40;  ///< before a class is trusted (11 % error of sd) @ours
  double winsor_sd = 5.0;                    ///< @ours
  double least_sd = 0.02;  ///< of a log feature: 2 %; clocks that count whole us give zero @ours
};

class PooledScale final {
 public:
  explicit PooledScale(const PooledScaleOptions& options);

  /// False until the class has enough contributions; then its scale exists and stays.
  bool trusted(std::uint8_t pair_class) const;
  /// Standard deviation per log feature, at least least_sd.  REQUIRES: trusted.
  const FeatureVector& sd(std::uint8_t pair_class) const;

  /// `deviation` is a healthy new window minus the mean of the `history_count` windows before it.
  /// REQUIRES: history_count >= 1, finite values.
  void contribute(std::uint8_t pair_class,
                  const FeatureVector& deviation,
                  std::size_t history_count);
  /// Takes the contributions since the last call into the scale.
  void close_window();

 private:
  struct Class {
    FeatureVector squares{};  ///< exponentially forgetting sums
    double weight = 0.0;
    FeatureVector new_squares{};  ///< of the window that is being judged
    std::uint64_t new_count = 0;
    std::uint64_t count = 0;  ///< contributions ever
    FeatureVector sd{};
  };

  PooledScaleOptions options_;
  std::vector<Class> classes_;  ///< one per value of std::uint8_t
};

}  // namespace bonescan
