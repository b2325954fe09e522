// What could be found at all: the posterior of every link, given how the traces are made.
//
// It is told what no operator knows, the distributions from which rates are drawn (healthy links
// uniform below 1e-4, faulty ones uniform in 0.2 to 2 %, so many faults a trace on average), but
// not which links fail.  To name the links of greatest posterior is then the best that any method
// can do on average at its number of false links (but for the number of faults in one trace, which
// is taken as Poisson).  So the distance of a method to it is what better reasoning could gain.
//
// Method: Gibbs sampling of all rates on a grid of healthy and of faulty values; the posterior of a
// link is the mean of its conditional probabilities (Rao-Blackwell).  Beside single links, the
// fault of one link of a lossy path is offered to another link of that path.  A measuring rod for
// the study, no localizer for anybody: some tenths of a second a trace.  Thread-compatible.
#pragma once

#include "detectors/localize/localizer.h"
#include "detectors/localize/path_columns.h"
#include "sim/base/rng_stream.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan::validation {

struct PosteriorBoundOptions {
  double posterior_least = 0.5;
  double fault_ratio = 3.0 / 2'500.0;  ///< of all directed links
  double noise_most = 1e-4;
  double fault_least = 0.002;
  double fault_most = 0.02;
  std::uint32_t noise_values = 4;
  std::uint32_t fault_values = 12;
  std::uint32_t sweeps = 80;
  std::uint32_t warm_up = 16;
};

class PosteriorBound final : public Localizer {
 public:
  explicit PosteriorBound(const PosteriorBoundOptions& options);

  std::string_view name() const override { return "bound"; }

  std::vector<Accusation> localize(std::span<const PathEvidence> evidence,
                                   Symptom symptom) override;

 private:
  void start();
  /// Draws the link's rate given all others; its probability of being at fault.
  double draw(std::uint32_t link);
  void offer();
  void set_value(std::uint32_t link, std::uint32_t value);
  double log_likelihood_of(std::uint32_t link) const;
  double dice() { return RngStream(2, Purpose::kStudyDraw, 0).open01_at(throws_++); }
  std::uint32_t die(std::size_t sides);
  bool faulty(std::uint32_t link) const { return value_[link] >= options_.noise_values; }

  PosteriorBoundOptions options_;
  std::vector<double> rates_;  ///< of the grid, healthy ones first
  std::vector<double> decay_;  ///< -ln(1 - rate)
  std::vector<double> log_prior_;
  PathColumns columns_;
  std::vector<std::uint32_t> value_;  ///< by link: where on the grid
  std::vector<double> path_decay_;    ///< by path: sum over its links
  std::vector<double> weights_;
  std::vector<double> posterior_;  ///< by link
  std::uint64_t throws_ = 0;
};

}  // namespace bonescan::validation
