#include "detectors/shortterm/robust_z_detector.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bonescan {
namespace {

constexpr std::size_t kLeastHistory = 5;

/// The variance of a median of n values is about 1.4 / n of theirs.
constexpr double kMedianVariance = 1.4;

/// Contributions count at most so many standard deviations. @ours
constexpr double kBound = 5.0;

/// Windows' worth of contributions that are remembered, in contributions. @ours
constexpr std::uint64_t kMemory = 1'000'000;

constexpr double kUnit = 1099511627776.0;  // 2^40
constexpr double kLeastUs = 0.5;

double median_of(std::array<float, 10> values, std::size_t count) {
  std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  return (static_cast<double>(values[(count - 1) / 2]) + static_cast<double>(values[count / 2])) /
         2.0;
}

}  // namespace

RobustZDetector::RobustZDetector(const RobustZOptions& options)
    : options_(options),
      windows_(options.windows),
      classes_(std::numeric_limits<std::uint8_t>::max() + std::size_t{1}) {}

void RobustZDetector::observe(Time /*now*/, std::span<const ObservedVisit> visits) {
  windows_.add(visits);
}

void RobustZDetector::evaluate(Time now, std::vector<Verdict>& verdicts) {
  const std::size_t before = verdicts.size();
  Time end;
  while (windows_.close_next(now, closed_, end)) {
    // Two windows that close in one call would give a pair two verdicts: the later one counts.
    verdicts.resize(before);
    judge_window(now, verdicts);
  }
}

void RobustZDetector::judge_window(Time now, std::vector<Verdict>& verdicts) {
  for (std::size_t row = 0; row < closed_.pairs.size(); ++row) {
    PairState& state = states_[closed_.pairs[row]];
    Class& mine = classes_[state.pair_class];
    const double log_median = std::log(std::max(closed_.features_us[row][kP50], kLeastUs));
    if (state.count < kLeastHistory) {
      remember(state, static_cast<float>(log_median));
      continue;
    }
    const double shift = log_median - median_of(state.log_medians, state.count);
    const double median_error = 1.0 + kMedianVariance / static_cast<double>(state.count);
    const bool trusted = mine.weight >= options_.least_contributions;
    const double pooled =
        trusted ? static_cast<double>(mine.squares) / kUnit / static_cast<double>(mine.weight) : 0;
    const double sd = std::max(std::sqrt(pooled), options_.least_sd);
    const double z = shift / (sd * std::sqrt(median_error));
    const bool late = trusted && z > options_.threshold;
    if (late) {
      verdicts.push_back({.at = now,
                          .pair = closed_.pairs[row],
                          .kind = VerdictKind::kAnomalous,
                          .rule = VerdictRule::kOther,
                          .score = static_cast<float>(z),
                          .factor = static_cast<float>(std::exp(shift))});
      if (++state.late_windows < options_.freeze) {
        continue;
      }
      state.count = 0;
      state.next = 0;
    } else {
      const double bound = trusted ? kBound * kBound * sd * sd : 1.0;
      mine.new_squares +=
          static_cast<std::uint64_t>(std::min(shift * shift / median_error, bound) * kUnit);
      ++mine.new_weight;
    }
    state.late_windows = 0;
    remember(state, static_cast<float>(log_median));
  }
  for (Class& one : classes_) {
    one.squares += one.new_squares;
    one.weight += one.new_weight;
    one.new_squares = 0;
    one.new_weight = 0;
    if (one.weight >= kMemory) {
      one.squares /= 2;
      one.weight /= 2;
    }
  }
}

void RobustZDetector::remember(PairState& state, float log_median) const {
  state.log_medians[state.next] = log_median;
  state.next = static_cast<std::uint8_t>((state.next + std::size_t{1}) % kHistory);
  state.count = static_cast<std::uint8_t>(std::min<std::size_t>(state.count + 1U, kHistory));
}

void RobustZDetector::release(PairRange pairs) {
  windows_.release(pairs);
  states_.release(pairs.first, pairs.count);
}

}  // namespace bonescan
