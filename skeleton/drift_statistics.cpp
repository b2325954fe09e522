#include "skeleton/drift_statistics.h"

#include <cmath>
#include <functional>

namespace bonescan {
namespace {

/// Share of its bursts that a member is supposed to have lost: this catches a straggler whose burst
/// still overlaps a little, and costs a sixth of the speed on one that is idle. @ours
constexpr double kLostShare = 0.6;
/// One column proves no more than this, so that an outlier alone is no alarm. @ours
constexpr double kMostIncrement = 7.0;
/// One column in four has residuals of four times the usual spread: edges of bursts, not all of
/// the time in between. @ours
constexpr double kWideShare = 0.25;
constexpr double kWideRatio = 4.0;
/// Peaks that a tail is measured on: the highest tenth, if these are enough. @ours
constexpr std::size_t kFewestPeaks = 10;
constexpr std::size_t kMostPeaks = 100;

}  // namespace

double missing_increment(double residual, double expected) {
  const double lost = kLostShare * expected;
  return std::clamp(-residual * lost - 0.5 * lost * lost, -kMostIncrement, kMostIncrement);
}

double spread_increment(double residual, double most) {
  const double square = std::min(residual * residual, most * most);
  const double wide = std::exp(0.5 * square * (1.0 - 1.0 / (kWideRatio * kWideRatio))) / kWideRatio;
  return std::log(1.0 - kWideShare + kWideShare * wide);
}

void Excursions::add(std::span<const double> increments) {
  ++streams_;
  columns_ = std::max(columns_, increments.size());
  Cusum sum;
  double peak = 0.0;
  for (const double increment : increments) {
    sum.add(increment);
    peak = std::max(peak, sum.sum());
    if (sum.sum() == 0.0 && peak > 0.0) {
      peaks_.push_back(peak);
      peak = 0.0;
    }
  }
  if (peak > 0.0) {
    peaks_.push_back(peak);
  }
}

double Excursions::threshold(double columns) const {
  const double streams = static_cast<double>(std::max<std::size_t>(streams_, 1));
  const double of_likelihood = std::log(streams * std::max(columns, 1.0));
  const std::size_t count = std::clamp(peaks_.size() / 10, kFewestPeaks, kMostPeaks);
  if (peaks_.size() <= count || columns_ == 0) {
    return of_likelihood;
  }
  std::vector<double> peaks = peaks_;
  std::nth_element(peaks.begin(),
                   peaks.begin() + static_cast<std::ptrdiff_t>(count),
                   peaks.end(),
                   std::greater<>());
  const double above = peaks[count];
  double excess = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    excess += (peaks[i] - above) / static_cast<double>(count);
  }
  const double slope = std::max(1.0, excess * (1.0 + 2.0 / std::sqrt(static_cast<double>(count))));
  const double wanted = columns * static_cast<double>(count) / static_cast<double>(columns_);
  return std::max(of_likelihood, above + slope * std::log(std::max(wanted, 1.0)));
}

}  // namespace bonescan
