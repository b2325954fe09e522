#include "skeleton/stage_pattern.h"

#include "sim/base/check.h"
#include "sim/base/median.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bonescan {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
/// A burst's level is that which one column in twenty exceeds. @ours
constexpr double kLevelQuantile = 0.95;
constexpr double kBurst = 0.4;  ///< of the level @ours
/// The stage before is looked at so many columns back at most. @ours
constexpr std::size_t kMostLag = 30;
/// Keeps the fit of alike columns finite, as a share of their energy.
constexpr double kRidge = 1e-3;

double quantile_of(std::vector<double>& values, double level) {
  if (values.empty()) {
    return 0.0;
  }
  const auto index =
      static_cast<std::ptrdiff_t>(std::lround(level * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

/// Solves a x = b for a symmetric positive definite a by elimination.
template <std::size_t kSize>
std::array<double, kSize> solve(std::array<std::array<double, kSize>, kSize> a,
                                std::array<double, kSize> b) {
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = i + 1; j < kSize; ++j) {
      const double factor = a[j][i] / a[i][i];
      for (std::size_t l = i; l < kSize; ++l) {
        a[j][l] -= factor * a[i][l];
      }
      b[j] -= factor * b[i];
    }
  }
  for (std::size_t i = kSize; i-- > 0;) {
    for (std::size_t j = i + 1; j < kSize; ++j) {
      b[i] -= a[i][j] * b[j];
    }
    b[i] /= a[i][i];
  }
  return b;
}

}  // namespace

StagePattern::StagePattern(const TaskSkeleton& skeleton, const TrafficRecord& reference)
    : stages_(skeleton.stages), gains_(reference.members.size(), 1.0) {
  BONESCAN_CHECK(stages_.size() == reference.members.size());
  for (std::uint32_t m = 0; m < stages_.size(); ++m) {
    if (stages_[m] >= members_.size()) {
      members_.resize(stages_[m] + 1);
    }
    members_[stages_[m]].push_back(m);
  }
  // Twice: the gains want the medians, and the medians are better with the gains.
  learn_gains(reference);
  learn_gains(reference);
  learn_levels();
  learn_follows(skeleton, seconds(reference.period));
}

double StagePattern::median_of(std::size_t stage, std::span<const float> rates) {
  scratch_.clear();
  std::size_t able = 0;
  for (const std::uint32_t m : members_[stage]) {
    if (gains_[m] < kLeastGain) {
      continue;
    }
    ++able;
    if (!std::isnan(rates[m])) {
      scratch_.push_back(static_cast<double>(rates[m]) / gains_[m]);
    }
  }
  return able == 0 || 2 * scratch_.size() <= able ? kUnknown : median(scratch_);
}

void StagePattern::learn_gains(const TrafficRecord& reference) {
  const std::size_t stages = members_.size();
  columns_ = reference.columns;
  held_ = std::max<std::size_t>(columns_, 1);
  medians_.assign(held_ * stages, kUnknown);
  std::vector<float> column(reference.members.size());
  for (std::size_t c = 0; c < columns_; ++c) {
    for (std::size_t m = 0; m < column.size(); ++m) {
      column[m] = reference.row(m)[c];
    }
    for (std::size_t k = 0; k < stages; ++k) {
      medians_[c * stages + k] = median_of(k, column);
    }
  }
  gains_of_half_.fill(gains_);
  for (std::size_t m = 0; m < column.size(); ++m) {
    std::array<double, 2> product{};
    std::array<double, 2> square{};
    for (std::size_t c = 0; c < columns_; ++c) {
      const double says = at(stages_[m], c);
      const double rate = static_cast<double>(reference.row(m)[c]);
      if (!std::isnan(says) && !std::isnan(rate)) {
        const std::size_t half = 2 * c < columns_ ? 0 : 1;
        product[half] += says * rate;
        square[half] += says * says;
      }
    }
    const double sum = square[0] + square[1];
    gains_[m] = sum > 0.0 ? (product[0] + product[1]) / sum : 0.0;
    for (std::size_t half = 0; half < 2; ++half) {
      gains_of_half_[half][m] = square[half] > 0.0 ? product[half] / square[half] : gains_[m];
    }
  }
}

void StagePattern::learn_levels() {
  for (std::size_t k = 0; k < members_.size(); ++k) {
    scratch_.clear();
    for (std::size_t c = 0; c < columns_; ++c) {
      if (!std::isnan(at(k, c))) {
        scratch_.push_back(at(k, c));
      }
    }
    levels_.push_back(quantile_of(scratch_, kLevelQuantile));
  }
}

void StagePattern::learn_follows(const TaskSkeleton& skeleton, double period_s) {
  follows_.resize(members_.size());
  for (std::size_t k = 1; k < members_.size(); ++k) {
    Follow& follow = follows_[k];
    if (skeleton.lags_s.size() == members_.size()) {
      const double lag = (skeleton.lags_s[k] - skeleton.lags_s[k - 1]) / period_s;
      follow.first = static_cast<std::size_t>(
          std::clamp(std::floor(lag) - 1.0, 0.0, static_cast<double>(kMostLag)));
    }
    std::array<std::array<double, kTaps + 1>, kTaps + 1> a{};
    std::array<double, kTaps + 1> b{};
    for (std::size_t c = follow.first + kTaps - 1; c < columns_; ++c) {
      std::array<double, kTaps + 1> row{};
      bool known = !std::isnan(at(k, c));
      for (std::size_t i = 0; i < kTaps; ++i) {
        row[i] = at(k - 1, c - follow.first - i);
        known = known && !std::isnan(row[i]);
      }
      row[kTaps] = levels_[k];
      for (std::size_t i = 0; known && i <= kTaps; ++i) {
        for (std::size_t j = 0; j <= kTaps; ++j) {
          a[i][j] += row[i] * row[j];
        }
        b[i] += row[i] * at(k, c);
      }
    }
    double trace = 0.0;
    for (std::size_t i = 0; i <= kTaps; ++i) {
      trace += a[i][i];
    }
    for (std::size_t i = 0; i <= kTaps; ++i) {
      a[i][i] += kRidge * trace + std::numeric_limits<double>::min();
    }
    const std::array<double, kTaps + 1> weights = solve(a, b);
    std::copy_n(weights.begin(), kTaps, follow.weights.begin());
    follow.offset = weights[kTaps] * levels_[k];
  }
}

double StagePattern::stage_residual(std::size_t stage, std::size_t column) const {
  const Follow& follow = follows_[stage];
  const std::size_t back = follow.first + kTaps;
  if (column + 1 < back || back > held_) {
    return kUnknown;
  }
  double says = follow.offset;
  for (std::size_t i = 0; i < kTaps; ++i) {
    says += follow.weights[i] * at(stage - 1, column - follow.first - i);
  }
  return at(stage, column) - says;
}

std::size_t StagePattern::burst_count(std::size_t stage) const {
  std::size_t count = 0;
  for (std::size_t c = 1; c < columns_; ++c) {
    const double most = kBurst * levels_[stage];
    count += at(stage, c) > most && !(at(stage, c - 1) > most) ? 1 : 0;
  }
  return count;
}

bool StagePattern::anybody_bursts(std::size_t column) const {
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (at(k, column) > kBurst * levels_[k]) {
      return true;
    }
  }
  return false;
}

bool StagePattern::everybody_bursts(std::size_t column) const {
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (!(at(k, column) > kBurst * levels_[k])) {
      return false;
    }
  }
  return true;
}

void StagePattern::forget() {
  columns_ = 0;
  held_ = kMostLag + kTaps + 1;
  medians_.assign(held_ * members_.size(), kUnknown);
  medians_.shrink_to_fit();
}

bool StagePattern::push(std::span<const float> rates) {
  bool known = true;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const double value = median_of(k, rates);
    medians_[(columns_ % held_) * members_.size() + k] = value;
    known = known && !std::isnan(value);
  }
  ++columns_;
  return known;
}

}  // namespace bonescan
