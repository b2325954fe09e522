#include "skeleton/stft.h"

#include "sim/base/check.h"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <vector>

namespace bonescan {
namespace {

/// Frames that are transformed together: input and output stay in the second-level cache.
constexpr std::size_t kBatch = 64;

/// FFTW's planner is the one part of it that is not thread-safe.
std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

struct FftwFree {
  void operator()(void* memory) const { fftw_free(memory); }
};

template <typename T>
using Aligned = std::unique_ptr<T[], FftwFree>;

Aligned<double> aligned_reals(std::size_t count) {
  return Aligned<double>(fftw_alloc_real(count));
}

Aligned<fftw_complex> aligned_complexes(std::size_t count) {
  return Aligned<fftw_complex>(fftw_alloc_complex(count));
}

std::vector<double> window_of(const StftOptions& options) {
  std::vector<double> window(options.segment, 1.0);
  if (options.window == StftWindow::kHann) {
    const double step = 2.0 * std::numbers::pi / static_cast<double>(options.segment);
    for (std::size_t i = 0; i < window.size(); ++i) {
      window[i] = 0.5 - 0.5 * std::cos(step * static_cast<double>(i));
    }
  }
  double sum = 0.0;
  double square_sum = 0.0;
  for (const double w : window) {
    sum += w;
    square_sum += w * w;
  }
  const double scale = options.scaling == StftScaling::kSpectrum
                           ? 1.0 / sum
                           : 1.0 / std::sqrt(options.samples_per_second * square_sum);
  for (double& w : window) {
    w *= scale;
  }
  return window;
}

}  // namespace

class Stft::Impl {
 public:
  explicit Impl(const StftOptions& options)
      : options_(options), bins_(options.segment / 2 + 1), window_(window_of(options)) {
    const Aligned<double> in = aligned_reals(kBatch * options.segment);
    const Aligned<fftw_complex> out = aligned_complexes(kBatch * bins_);
    const int length = static_cast<int>(options.segment);
    const std::scoped_lock lock(planner_mutex());
    plan_ = fftw_plan_many_dft_r2c(1,
                                   &length,
                                   static_cast<int>(kBatch),
                                   in.get(),
                                   nullptr,
                                   1,
                                   length,
                                   out.get(),
                                   nullptr,
                                   1,
                                   static_cast<int>(bins_),
                                   FFTW_ESTIMATE);
    BONESCAN_CHECK(plan_ != nullptr);
  }

  ~Impl() {
    const std::scoped_lock lock(planner_mutex());
    fftw_destroy_plan(plan_);
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::size_t frames(std::size_t samples) const {
    if (options_.boundary == StftBoundary::kNone) {
      return samples < options_.segment ? 0 : (samples - options_.segment) / options_.hop + 1;
    }
    const std::size_t extended = std::max(samples + extension() * 2, options_.segment);
    return (extended - options_.segment + options_.hop - 1) / options_.hop + 1;
  }

  std::size_t bins() const { return bins_; }

  template <typename Sample>
  void transform(std::span<const Sample> rows,
                 std::size_t samples,
                 std::span<std::complex<double>> spectra) const {
    BONESCAN_CHECK(samples > 0 && rows.size() % samples == 0);
    const std::size_t per_row = frames(samples);
    const std::size_t total = rows.size() / samples * per_row;
    BONESCAN_CHECK(spectra.size() == total * bins_);
    const Aligned<double> in = aligned_reals(kBatch * options_.segment);
    const Aligned<fftw_complex> out = aligned_complexes(kBatch * bins_);
    for (std::size_t first = 0; first < total; first += kBatch) {
      const std::size_t count = std::min(kBatch, total - first);
      for (std::size_t i = 0; i < kBatch; ++i) {
        const std::span frame(in.get() + i * options_.segment, options_.segment);
        if (i < count) {
          const std::size_t row = (first + i) / per_row;
          fill(rows.subspan(row * samples, samples), (first + i) % per_row, frame);
        } else {
          std::fill(frame.begin(), frame.end(), 0.0);
        }
      }
      fftw_execute_dft_r2c(plan_, in.get(), out.get());
      for (std::size_t i = 0; i < count * bins_; ++i) {
        spectra[first * bins_ + i] = {out[i][0], out[i][1]};
      }
    }
  }

 private:
  std::size_t extension() const {
    return options_.boundary == StftBoundary::kZeros ? options_.segment / 2 : 0;
  }

  template <typename Sample>
  void fill(std::span<const Sample> row, std::size_t index, std::span<double> frame) const {
    const std::size_t begin = index * options_.hop;
    double sum = 0.0;
    for (std::size_t i = 0; i < frame.size(); ++i) {
      const std::size_t at = begin + i;  // counted from the start of the extension
      const bool inside = at >= extension() && at - extension() < row.size();
      frame[i] = inside ? static_cast<double>(row[at - extension()]) : 0.0;
      sum += frame[i];
    }
    const double mean =
        options_.detrend == StftDetrend::kConstant ? sum / static_cast<double>(frame.size()) : 0.0;
    for (std::size_t i = 0; i < frame.size(); ++i) {
      frame[i] = (frame[i] - mean) * window_[i];
    }
  }

  StftOptions options_;
  std::size_t bins_;
  std::vector<double> window_;  ///< with the scaling in it
  fftw_plan plan_ = nullptr;
};

Stft::Stft(const StftOptions& options) {
  BONESCAN_CHECK(options.segment >= 2);
  BONESCAN_CHECK(options.hop >= 1 && options.hop <= options.segment);
  impl_ = std::make_unique<const Impl>(options);
}

Stft::~Stft() = default;
Stft::Stft(Stft&&) noexcept = default;
Stft& Stft::operator=(Stft&&) noexcept = default;

std::size_t Stft::frames(std::size_t samples) const {
  return impl_->frames(samples);
}

std::size_t Stft::bins() const {
  return impl_->bins();
}

void Stft::transform(std::span<const float> rows,
                     std::size_t samples,
                     std::span<std::complex<double>> spectra) const {
  impl_->transform(rows, samples, spectra);
}

void Stft::transform(std::span<const double> rows,
                     std::size_t samples,
                     std::span<std::complex<double>> spectra) const {
  impl_->transform(rows, samples, spectra);
}

}  // namespace bonescan
