// The delay that nobody can beat: the best sequential test that knows a fault's kind and size.
//
// Intuition: each probe of a broken path carries on average so many nats of evidence (the
// Kullback-Leibler divergence between what it sees and what it would see), and a budget of false
// alarms asks for a number of nats, ln(1 / alpha).  Their quotient is the number of probes that
// must be sent, to first order (Wald's SPRT and Lorden's bound for CUSUM alike); waiting for the
// visits that hold them is a matter of counting.
// Pure functions.
#pragma once

#include "tools/study/detection/noise_world.h"

#include <vector>

namespace bonescan {

/// Density of one probe's round trip in the well-specified world, on a grid.
class ProbeDensity final {
 public:
  static constexpr double kStepUs = 0.02;
  static constexpr std::size_t kCells = 40'000;  ///< to 800 us

  /// The base takes `base_us`.
  explicit ProbeDensity(double base_us);

  /// Probability of a cell.
  double mass(std::size_t cell) const { return mass_[cell]; }
  double mean_us() const;
  /// REQUIRES: 0 < u < 1.
  double quantile_us(double u) const;

 private:
  std::vector<double> mass_;
};

/// Nats that a probe over the slow path gives against the healthy one.
double latency_information(double base_us, double factor);

/// Nats that a probe gives, of which the fault loses a share.
double loss_information(double loss, double base_loss);

/// What the budget asks for: `false_alarms_per_day` over everybody's visits in a day.
double nats_of_budget(double false_alarms_per_day, double visits_per_day);

/// Probes that must be sent; at least one, infinitely many where they tell nothing.
double bound_probes(double nats, double nats_per_probe);

/// When the n-th probe after the onset has come back, mean over onsets: visits of `probes` probes
/// `gap_s` apart, once a `period_s`; then `answer_s` more.
struct VisitRhythm {
  double period_s = 17.0;
  double gap_s = 0.1;
  std::uint32_t probes = 10;
  double answer_s = 0.0;
};

double bound_delay_s(const VisitRhythm& rhythm, double probes);

/// When a change that grows has given so many nats: nats_by_step[i] a probe between i and i + 1
/// steps after the onset.
/// @returns infinity where all steps are not enough
double growing_bound_s(const std::vector<double>& nats_by_step,
                       double step_s,
                       double probes_per_s,
                       double nats);

}  // namespace bonescan
