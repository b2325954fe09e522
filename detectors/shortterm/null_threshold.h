// What score does a healthy pair reach once in ten million evaluations?  Learnt while running.
//
// Intuition: a constant threshold is right for one network on one day.  Here every healthy
// evaluation gives its score to the class of its pair, a few thousand of the largest are kept, and
// a tail is fitted to them (tail_fit.h).  A budget of false alarms is a probability per evaluation;
// the fitted tail turns it into a score, and a score into a probability.
//
// Model: of `count` scores of the class, those above `level` are known one by one.  When more than
// `kept` are, the level rises to their median.  The tail is fitted to at most
// 3 sqrt(count) of them and `tail_share` of all scores.  When `memory` scores have been counted,
// every second kept score (by rank, so that their shape stays) and half of the count are forgotten:
// scores are forgotten exponentially, in steps, and no random number is needed.  If too few are
// left above the level (the network became quieter) learning starts anew, and what was known stays
// valid until it is replaced.
//
// Invariants: 1. between two calls of close() thresholds do not move, and the order of add() calls
// never matters; 2. a class without `least_scores` is not trusted: no threshold, log_p 0; 3. memory
// is bounded by `kept` scores a class beside those of one turn; nothing is allocated once a class
// has been seen; 4. log_p falls with the score.
// Where the largest scores are all equal the tail is exponential, of scale 1.
// The caller leaves out scores of anomalous pairs.  Thread-compatible; copies are independent.
#pragma once

#include "detectors/shortterm/tail_fit.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bonescan {

struct NullThresholdOptions {
  std::size_t kept = 8192;            ///< largest scores of a class @ours
  std::uint64_t least_scores = 5000;  ///< before a class is trusted @ours
  double tail_share = 0.02;           ///< of all scores, that a tail is fitted to at most @ours
  std::uint64_t memory = 64'000'000;  ///< scores, until half are forgotten @ours
  /// The shape that is used lies so many standard errors above the fitted one: a tail that is known
  /// from a hundred scores must not promise more than it can.
  double shape_margin_sd = 0.0;
  double heavy_shape = 0.1;  ///< a heavier tail is fitted again further out, while it can be @ours
  /// Scores are in logarithms of time, where a shape of 0 is a power law already. @ours
  TailFitOptions fit{.least_exceedances = 100, .most_shape = 0.2};
};

/// The least logarithm of a probability that is told; smaller ones are this.
constexpr double kLeastLogP = -700.0;

class NullThreshold final {
 public:
  explicit NullThreshold(const NullThresholdOptions& options);

  bool trusted(std::uint8_t pair_class) const;
  /// The score that a healthy evaluation exceeds with this probability; never below the level of
  /// the tail.  REQUIRES: trusted, 0 < probability < 1.
  double threshold(std::uint8_t pair_class, double probability) const;
  /// ln P(a healthy score exceeds `score`); 0 at and below the level of the tail, and for a class
  /// that is not trusted.
  double log_p(std::uint8_t pair_class, double score) const;
  /// Scores that the class's tail stands for, after forgetting.
  std::uint64_t count(std::uint8_t pair_class) const;
  /// The tail in use; nullptr for a class that is not trusted.
  const TailFit* tail(std::uint8_t pair_class) const;
  /// Bytes of everything.
  std::size_t held_size() const;

  /// A healthy score.  REQUIRES: finite.
  void add(std::uint8_t pair_class, double score) {
    Class& mine = classes_[pair_class];
    ++mine.count;
    if (score > mine.level) {
      mine.scores.push_back(score);
    }
  }

  /// Ends a turn: thresholds learn what was added since the last call.
  void close();

 private:
  struct Tail {
    double base = 0.0;       ///< score from which on the tail speaks
    double log_share = 0.0;  ///< ln P(score > base)
    TailFit fit;

    double quantile(double log_probability) const;
  };

  struct Class {
    std::uint64_t count = 0;
    std::uint64_t next_fit = 0;  ///< count from which on a new fit is worth its time
    std::uint32_t thinnings = 0;
    double level = 0.0;
    std::vector<double> scores;  ///< above the level
    bool trusted = false;
    Tail tail;  ///< in use
  };

  void keep_largest(Class& mine) const;
  void forget_half(Class& mine) const;
  void fit(Class& mine);
  /// nullopt if so many exceedances say nothing.
  std::optional<Tail> fit_above(const Class& mine, std::size_t exceedances);

  NullThresholdOptions options_;
  std::vector<Class> classes_;  ///< one per value of std::uint8_t
  std::vector<double> excesses_;
};

}  // namespace bonescan
