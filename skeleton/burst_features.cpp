#include "skeleton/burst_features.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>
#include <vector>

namespace bonescan {
namespace {

constexpr std::size_t kRowsAtOnce = 16;

/// What rounding leaves of a constant row in a frame.
double noise_energy(std::span<const float> row) {
  float largest = 0.0F;
  for (const float x : row) {
    largest = std::max(largest, std::abs(x));
  }
  return static_cast<double>(largest) * static_cast<double>(largest) * 1e-12;
}

/// A member that never changes has no shape: it stays at the origin, as far from everybody.
void write_unit_row(std::span<const std::complex<double>> spectra,
                    double negligible,
                    std::size_t bins,
                    std::span<float> row) {
  const std::size_t frames = spectra.size() / (bins + 1);
  double square_sum = 0.0;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    for (std::size_t bin = 1; bin <= bins; ++bin) {
      square_sum += std::norm(spectra[frame * (bins + 1) + bin]);
    }
  }
  const double scale = square_sum > negligible ? 1.0 / std::sqrt(square_sum) : 0.0;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    const std::span from = spectra.subspan(frame * (bins + 1) + 1, bins);
    const std::span to = row.subspan(frame * bins * 2, bins * 2);
    for (std::size_t bin = 0; bin < bins; ++bin) {
      to[bin] = static_cast<float>(from[bin].real() * scale);
      to[bins + bin] = static_cast<float>(from[bin].imag() * scale);
    }
  }
}

}  // namespace

BurstFeatures burst_features(const FloatMatrix& series,
                             const Stft& stft,
                             const StftOptions& options) {
  BurstFeatures features;
  features.frames = stft.frames(series.columns);
  BONESCAN_CHECK(features.frames > 0);
  features.bins = stft.bins() - 1;
  features.hertz_per_bin = options.samples_per_second / static_cast<double>(options.segment);
  const std::size_t width = features.bins * 2;
  features.rows = FloatMatrix(series.rows, features.frames * width);
  const std::size_t half = series.columns / 2;
  for (std::size_t frame = 0; frame < features.frames; ++frame) {
    const std::size_t begin = frame * options.hop;
    if (begin + options.segment <= half) {
      features.first_half_end = (frame + 1) * width;
    }
    if (begin < half) {
      features.second_half_from = (frame + 1) * width;
    }
  }
  const std::size_t row_spectra = features.frames * stft.bins();
  std::vector<std::complex<double>> spectra(kRowsAtOnce * row_spectra);
  for (std::size_t first = 0; first < series.rows; first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, series.rows - first);
    const std::span used = std::span(spectra).first(count * row_spectra);
    stft.transform(std::span(series.values).subspan(first * series.columns, count * series.columns),
                   series.columns,
                   used);
    for (std::size_t r = 0; r < count; ++r) {
      write_unit_row(used.subspan(r * row_spectra, row_spectra),
                     noise_energy(series.row(first + r)) * static_cast<double>(features.frames),
                     features.bins,
                     features.rows.row(first + r));
    }
  }
  return features;
}

}  // namespace bonescan
