// What tells one stage's bursts from another's: spectra with their phase.
//
// Intuition: stages of a pipeline burst alike, a little later each.  Magnitudes of spectra do not
// know when; complex spectra turn by 2 pi f lag.  Real and imaginary parts side by side, without
// the mean (frequency 0), are scaled to length 1, so that loud and quiet members compare; half the
// squared distance of two is then 1 - coherence at lag 0.
// Frames are kept in the order of time: the first columns are the first half of the record.
#pragma once

#include "skeleton/matrix.h"
#include "skeleton/stft.h"

#include <cstddef>

namespace bonescan {

struct BurstFeatures {
  FloatMatrix rows{};  ///< a row a series; frame by frame, then re, im by frequency from the first
  std::size_t frames = 0;
  std::size_t bins = 0;              ///< frequencies a frame, without 0
  double hertz_per_bin = 0.0;        ///< of the grid
  std::size_t first_half_end = 0;    ///< columns of frames that lie in the first half
  std::size_t second_half_from = 0;  ///< of those that lie in the second half
};

/// REQUIRES: at least one frame fits
BurstFeatures burst_features(const FloatMatrix& series,
                             const Stft& stft,
                             const StftOptions& options);

}  // namespace bonescan
