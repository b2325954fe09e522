#include "planner/predict/delay_prediction.h"

#include "sim/base/check.h"

#include <algorithm>
#include <utility>

namespace bonescan {

DelayPrediction::DelayPrediction(Duration start, Duration step, std::vector<double> masses)
    : start_s_(seconds(start)), step_s_(seconds(step)), masses_(std::move(masses)) {
  for (const double mass : masses_) {
    never_ -= mass;
  }
  never_ = std::max(never_, 0.0);
}

double DelayPrediction::within(Duration delay) const {
  const double cells = (seconds(delay) - start_s_) / step_s_;
  double sum = 0.0;
  for (std::size_t i = 0; i < masses_.size() && static_cast<double>(i) < cells; ++i) {
    sum += masses_[i] * std::min(1.0, cells - static_cast<double>(i));
  }
  return sum;
}

std::optional<Duration> DelayPrediction::quantile(double share) const {
  BONESCAN_CHECK(share > 0.0 && share < 1.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    if (sum + masses_[i] >= share && masses_[i] > 0.0) {
      const double cells = static_cast<double>(i) + (share - sum) / masses_[i];
      return from_seconds(start_s_ + cells * step_s_);
    }
    sum += masses_[i];
  }
  return std::nullopt;
}

std::optional<Duration> DelayPrediction::mean() const {
  double sum = 0.0;
  double found = 0.0;
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    sum += masses_[i] * (static_cast<double>(i) + 0.5);
    found += masses_[i];
  }
  return found > 0.0 ? std::optional(from_seconds(start_s_ + step_s_ * sum / found)) : std::nullopt;
}

}  // namespace bonescan
