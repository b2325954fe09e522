// The posterior of every link by sampling: all sets of faults speak, not only the best one.
//
// Intuition: FaultSearch asks of each fault what else could explain its paths, the other faults
// given.  Where evidence is thin the others are in doubt as well; then the sum over sets ranks
// links better than the best set does.  It costs some twenty times as much (METHODS.md), so it is
// for offline analysis; and it is the measuring rod of the study: told the distributions that
// traces are drawn from, its ranking is the best that any method can have on average.
//
// Model: that of fault_search.h, with a rate for each healthy link as well.  Rates are on a grid:
// healthy ones uniform in [0, noise_most], faulty ones log-spaced in [fault_least, fault_most] with
// a prior density in ln q that grows as q to the fault_slope.  Method: Gibbs sampling of one link
// at a time, started at what FaultSearch finds; a link's posterior is the mean of its conditional
// probabilities (Rao-Blackwell).  Beside that, the fault of one link of a lossy path is offered to
// another link of that path.  Dice are the same in every call: equal evidence, equal answer.
//
// Directed links are named one by one: no sets, no readings of whole cables.  Invariants: 1, 2, 3,
// 4 and 6 of localizer.h; 5 holds but for the noise of sampling.  @ours  Thread-compatible.
#pragma once

#include "detectors/localize/fault_search.h"
#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"
#include "sim/base/rng_stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

struct PosteriorSearchOptions {
  double posterior_least = 0.5;
  double prior_nats = 7.0;  ///< log odds against a fault of a given link
  double noise_most = 1e-4;
  double fault_least = 1e-3;
  double fault_most = 0.999;
  double fault_slope = 0.0;
  std::uint32_t noise_values = 4;
  std::uint32_t fault_values = 24;
  std::uint32_t sweeps = 80;
  std::uint32_t warm_up = 16;
};

class PosteriorSearch final : public Localizer {
 public:
  explicit PosteriorSearch(const PosteriorSearchOptions& options = {});

  std::string_view name() const override { return "bonescan-sampled"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

 private:
  void start(std::span<const PathEvidence> evidence);
  /// Draws the link's rate given all others; its probability of being at fault.
  double draw(std::uint32_t link);
  void offer();
  void set_value(std::uint32_t link, std::uint32_t value);
  double log_likelihood_of(std::uint32_t link) const;
  double dice() { return RngStream(2, Purpose::kStudyDraw, 0).open01_at(throws_++); }
  std::uint32_t die(std::size_t sides);
  bool faulty(std::uint32_t link) const { return value_[link] >= options_.noise_values; }

  PosteriorSearchOptions options_;
  std::vector<double> rates_;  ///< of the grid, healthy ones first
  std::vector<double> decay_;  ///< -ln(1 - rate)
  std::vector<double> log_prior_;
  FaultSearch search_;
  PathColumns columns_;
  std::vector<std::uint32_t> value_;  ///< by link: where on the grid
  std::vector<double> path_decay_;    ///< by path: sum over its links
  std::vector<double> weights_;
  std::vector<double> posterior_;  ///< by link
  std::uint64_t throws_ = 0;
};

}  // namespace bonescan
