// Short-time Fourier transform of many rows at once.
//
// Conventions are those of scipy.signal.stft (1.10), so that results can be compared: periodic Hann
// window; `zeros` puts half a segment of zeros before and after; `padded` appends zeros until the
// last frame is full; one-sided, and not doubled for `psd`.  FFTW plans once, for a batch of
// frames, without measuring (FFTW_ESTIMATE), so that equal inputs give equal bits.
// Invariant: FFTW does not leave stft.cpp.  Thread-safe once constructed.
// Complexity: frames * segment * log(segment) a row.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace bonescan {

enum class StftWindow : std::uint8_t {
  kHann,
  kBoxcar
};

enum class StftBoundary : std::uint8_t {
  kNone,   ///< frames lie inside of the row
  kZeros,  ///< the row is extended by zeros and padded to whole frames
};

enum class StftDetrend : std::uint8_t {
  kNone,
  kConstant
};

enum class StftScaling : std::uint8_t {
  kSpectrum,  ///< divided by sum(w): a sine of amplitude a shows as a / 2
  kPsd,       ///< divided by sqrt(rate * sum(w^2))
};

struct StftOptions {
  std::size_t segment = 60;  ///< samples of a frame
  std::size_t hop = 15;      ///< samples from frame to frame
  StftWindow window = StftWindow::kHann;
  StftBoundary boundary = StftBoundary::kNone;
  StftDetrend detrend = StftDetrend::kConstant;
  StftScaling scaling = StftScaling::kSpectrum;
  double samples_per_second = 1.0;
};

class Stft final {
 public:
  /// REQUIRES: 1 <= hop <= segment, segment >= 2.
  explicit Stft(const StftOptions& options);
  ~Stft();
  Stft(Stft&&) noexcept;
  Stft& operator=(Stft&&) noexcept;

  /// Frames of a row of that many samples; 0 if it is too short.
  std::size_t frames(std::size_t samples) const;

  /// Frequencies of a frame: 0 ... half the rate.
  std::size_t bins() const;

  /// Row by row, frame by frame, bin by bin.
  /// REQUIRES: rows.size() is a multiple of `samples`,
  /// spectra.size() == rows.size() / samples * frames(samples) * bins()
  void transform(std::span<const float> rows,
                 std::size_t samples,
                 std::span<std::complex<double>> spectra) const;
  void transform(std::span<const double> rows,
                 std::size_t samples,
                 std::span<std::complex<double>> spectra) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace bonescan
