// In which order stages burst, how far apart, and how regularly.
//
// Intuition: the mean of a stage's members is nearly free of noise, and one stage's mean is the
// other's, later.  The lag is where their cross-correlation peaks, between samples by a parabola.
// Bursts come again every step, so a lag has doubles a step away.  Two things tell them apart:
// steps are never of equal length, and only the true lag lines up each burst with its own step's;
// and if the stages fill less than a step, the pause is longer than any gap between stages.  Where
// neither speaks, the order is ambiguous, and that is said. The sign is relative: whether the first
// or the last stage bursts first depends on the schedule.
#pragma once

#include "skeleton/matrix.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

/// The rhythm of a job.
struct BurstRhythm {
  double period = 0.0;      ///< samples; apparent: steps shorter than two samples fold
  double regularity = 0.0;  ///< autocorrelation one to three periods later, 0 ... 1
};

/// @param means         a row a group
/// @param noise_share   of the power of these means
BurstRhythm burst_rhythm(const DoubleMatrix& means, double noise_share);

struct StageOrder {
  std::vector<std::uint32_t> rank{};  ///< by group: its place in the order of bursts
  std::vector<double> lags{};         ///< by rank, samples after the first
  double smallest_gap = 0.0;          ///< between neighbours, samples
  double lag_sd = 0.0;                ///< standard deviation of a gap by noise, samples
  bool ambiguous = false;             ///< which stage is the first cannot be told
};

StageOrder order_stages(const DoubleMatrix& means, double period, double noise_share);

/// Mean series of each group, without its mean.
DoubleMatrix stage_means(const FloatMatrix& series,
                         const std::vector<std::uint32_t>& labels,
                         std::size_t groups);

}  // namespace bonescan
