#include "detectors/shortterm/pooled_scale.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bonescan {

PooledScale::PooledScale(const PooledScaleOptions& options)
    : options_(options), classes_(std::numeric_limits<std::uint8_t>::max() + std::size_t{1}) {}

bool PooledScale::trusted(std::uint8_t pair_class) const {
  return classes_[pair_class].count >= options_.minimum_contributions;
}

const FeatureVector& PooledScale::sd(std::uint8_t pair_class) const {
  BONESCAN_DCHECK(trusted(pair_class));
  return classes_[pair_class].sd;
}

void PooledScale::contribute(std::uint8_t pair_class,
                             const FeatureVector& deviation,
                             std::size_t history_count) {
  BONESCAN_DCHECK(history_count >= 1);
  Class& mine = classes_[pair_class];
  const auto n = static_cast<double>(history_count);
  const bool bounded = trusted(pair_class);
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    double square = deviation[f] * deviation[f] * (n / (n + 1.0));
    if (bounded) {
      const double most = options_.winsor_sd * mine.sd[f];
      square = std::min(square, most * most);
    }
    mine.new_squares[f] += square;
  }
  ++mine.new_count;
}

void PooledScale::close_window() {
  for (Class& one : classes_) {
    if (one.new_count == 0) {
      continue;
    }
    one.weight = options_.forgetting * one.weight + static_cast<double>(one.new_count);
    one.count += one.new_count;
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      one.squares[f] = options_.forgetting * one.squares[f] + one.new_squares[f];
      one.sd[f] = std::max(std::sqrt(one.squares[f] / one.weight), options_.least_sd);
    }
    one.new_squares = {};
    one.new_count = 0;
  }
}

}  // namespace bonescan
