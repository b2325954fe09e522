#include "detectors/longterm/drift_class.h"

#include "detectors/longterm/drift_math.h"
#include "detectors/longterm/normal_tail.h"
#include "sim/base/median.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

constexpr double kForgetting = 0.98;  // per period, as in the pooled scale of windows @ours
constexpr double kBound = 25.0;       // a square counts at most so many mean squares @ours
constexpr double kMadOfNormal = 1.4826;
constexpr double kMostPhi = 0.95;

/// Of differences: aggregates are never known better than 0.1 %.  @ours
constexpr double kLeastSquare = 1e-6;

/// Steps of the class's series before it is judged, and when its sums are halved.  @ours
constexpr double kSeriesLeast = 24.0;
constexpr double kSeriesMost = 336.0;

/// A difference whose square is so many times their mean is a step, once so many are known.  @ours
constexpr double kJump = 16.0;
constexpr double kSeriesTrust = 12.0;

/// A slot of the day is the mean of its last days, roughly.  @ours
constexpr std::uint8_t kMostDays = 7;

/// Pairs that can tell how alike the pairs of a class are.  @ours
constexpr std::size_t kLeastSpreads = 10;

}  // namespace

DriftClass::DriftClass(const DriftClassOptions& options)
    : options_(options), profile_(options.slots_per_day), days_(options.slots_per_day) {}

void DriftClass::open_period() {
  values_.clear();
  heard_ = 0;
}

void DriftClass::add(float deviation, bool healthy) {
  ++heard_;
  if (healthy) {
    values_.push_back(deviation);
  }
}

void DriftClass::find_common(std::int64_t period) {
  const std::size_t slot = static_cast<std::size_t>(period) % profile_.size();
  expected_ = days_[slot] > 0 ? profile_[slot] : 0.0;
  has_common_ = values_.size() >= options_.common_least;
  // Where all pairs drift nobody is left to say what the class does: what the day lets expect.
  comparable_ = has_common_ || !had_common_ || (heard_ >= options_.common_least && days_[slot] > 0);
  common_ = expected_;
  if (has_common_) {
    common_ = median(values_);
    had_common_ = true;
    follow_series(period);
  } else {
    movement_.reset();
    if (!had_common_) {
      common_ = 0.0;
    }
  }
  values_.clear();
}

void DriftClass::follow_series(std::int64_t period) {
  const std::size_t slot = static_cast<std::size_t>(period) % profile_.size();
  const bool known = days_[slot] > 0;
  const bool suspect = movement_ && std::abs(movement_->z) >= options_.suspicion;
  movement_.reset();
  if (known && knows_its_day()) {
    const double deviation = common_ - expected_;
    if (series_last_ + 1 != period) {
      series_run_ = 0;
    }
    if (series_run_ > 0 && !suspect) {
      learn_series(deviation);
    }
    series_ewma_ += options_.ewma_weight * (deviation - series_ewma_);
    series_before_ = {deviation, series_before_[0], series_before_[1]};
    series_run_ = std::min(series_run_ + 1, 3);
    series_last_ = period;
    if (series_steps_ >= kSeriesLeast) {
      movement_ = judge_series(deviation);
    }
  }
  if (!held_ && (!movement_ || std::abs(movement_->z) < options_.suspicion)) {
    known_slots_ += known ? 0 : 1;
    days_[slot] = static_cast<std::uint8_t>(std::min<int>(days_[slot] + 1, kMostDays));
    profile_[slot] += static_cast<float>((common_ - profile_[slot]) / days_[slot]);
  }
}

// As a pair learns (drift_detector.cpp), but with nobody to compare with.
void DriftClass::learn_series(double deviation) {
  const double one = deviation - series_before_[0];
  const double three = deviation - series_before_[2];
  const double usual = series_steps_ > 0.0 ? series_ones_ / series_steps_ : 0.0;
  if (series_steps_ >= kSeriesTrust && one * one > kJump * std::max(usual, kLeastSquare)) {
    series_run_ = 0;  // A step of the level: differences across it would pass for persistence.
    return;
  }
  if (series_run_ < 3) {
    return;
  }
  series_ones_ += one * one;
  series_threes_ += three * three;
  series_steps_ += 1.0;
  if (series_steps_ >= kSeriesMost) {
    series_ones_ /= 2.0;
    series_threes_ /= 2.0;
    series_steps_ /= 2.0;
  }
}

ClassMovement DriftClass::judge_series(double deviation) const {
  const double phi = std::max(phi_, phi_of_differences(series_ones_, series_threes_));
  const double one = std::max(series_ones_ / series_steps_, kLeastSquare);
  const double error = ewma_variance_factor(options_.ewma_weight, phi) +
                       mean_variance_factor(static_cast<double>(profile_.size()), phi);
  const double t = series_ewma_ / std::sqrt(variance_of_differences(one, phi) * error);
  // Squares of differences of one series overlap: three are worth two.
  const double z = student_as_normal(t, series_steps_ * 2.0 / 3.0);
  return {.now = deviation, .level = series_ewma_, .log_p = normal_log_sf(z), .z = z};
}

void DriftClass::Pool::close() {
  sum = kForgetting * sum + fresh;
  weight = kForgetting * weight + count;
  fresh = 0.0;
  count = 0;
}

void DriftClass::add_one(double square) {
  if (trusted()) {
    ones_.add(std::min(square, kBound * one_));
    return;
  }
  ones_.add(square);
  values_.push_back(static_cast<float>(std::sqrt(square)));
}

void DriftClass::add_three(double square) {
  // Without trust its bound is not known either, and it is not used.
  threes_.add(trusted() ? std::min(square, kBound * std::max(three_, one_)) : 0.0);
}

void DriftClass::add_spread(double mean_square, double count) {
  // The logarithm of a chi square over its n degrees has the mean -1/n and the variance 2 / (n - 1)
  // or so.
  spreads_.push_back(static_cast<float>(std::log(std::max(mean_square, kLeastSquare)) + 1 / count));
  log_error_ += 2.0 / (count - 1.0);
}

void DriftClass::close_period() {
  if (ones_.count > 0) {
    learn_spread();
  }
  learn_degrees();
  values_.clear();
}

void DriftClass::learn_spread() {
  contributions_ += ones_.count;
  ++periods_;
  if (!values_.empty()) {
    // A few pairs may be at fault already: the median of |difference| does not see them.
    const double mad = kMadOfNormal * median(values_);
    ones_.fresh = mad * mad * ones_.count;
    threes_ = {};
  }
  ones_.close();
  threes_.close();
  one_ = std::max(ones_.mean(), kLeastSquare);
  if (threes_.weight > 0.0) {
    three_ = threes_.mean();
    phi_ = phi_of_differences(one_, three_);
  }
}

// Robust, since pairs at fault spread as well: the median of distances to the median.
void DriftClass::learn_degrees() {
  if (spreads_.size() >= kLeastSpreads) {
    const float middle = median(spreads_);
    for (float& value : spreads_) {
      value = std::abs(value - middle);
    }
    const double sd = kMadOfNormal * median(spreads_);
    degrees_ = prior_degrees(sd * sd - log_error_ / static_cast<double>(spreads_.size()));
  }
  spreads_.clear();
  log_error_ = 0.0;
}

}  // namespace bonescan
