#include "detectors/shortterm/short_term_detector.h"

#include "sim/base/check.h"

#include <algorithm>
#include <cmath>

namespace bonescan {
namespace {

// A mean of fewer windows says little about a pair's level.
constexpr std::size_t kLeastContributingHistory = 2;

constexpr double kMicrosecondsPerSecond = 1e6;

double median_of(std::span<const std::array<float, kFeatureCount>> windows, Feature feature) {
  std::array<float, kMaxHistory> values{};
  std::size_t count = 0;
  for (const auto& window : windows) {
    // Insertion in order; a history has at most kMaxHistory windows.
    std::size_t position = count++;
    for (; position > 0 && values[position - 1] > window[feature]; --position) {
      values[position] = values[position - 1];
    }
    values[position] = window[feature];
  }
  const double low = values[(count - 1) / 2];
  const double high = values[count / 2];
  return (low + high) / 2.0;
}

}  // namespace

ShortTermDetector::ShortTermDetector(const WindowOptions& window,
                                     const ShortTermOptions& options,
                                     DetectionConfiguration configuration)
    : history_(window.history),
      history_age_(window.history_age),
      options_(options),
      paper_(configuration == DetectionConfiguration::kPaper),
      kernel_(best_lof_kernel()),
      scale_(PooledScaleOptions{}),
      ring_(window.history),
      ring_ends_(window.history),
      batches_(kMaxHistory + 1) {
  BONESCAN_CHECK(options.neighbours >= 1);
  BONESCAN_CHECK(options.neighbours < window.history);
  BONESCAN_CHECK(window.history <= kMaxHistory);
}

void ShortTermDetector::resize(std::size_t pairs) {
  ring_.grow(pairs);
  ring_ends_.grow(pairs);
  states_.grow(pairs);
}

void ShortTermDetector::set_class(PairId pair, std::uint8_t pair_class) {
  states_[pair].pair_class = pair_class;
}

void ShortTermDetector::release(PairId pair) {
  states_[pair].anomalous_run = 0;
}

void ShortTermDetector::drop(PairRange pairs) {
  ring_.release(pairs.first, pairs.count);
  ring_ends_.release(pairs.first, pairs.count);
  states_.release(pairs.first, pairs.count);
}

std::size_t ShortTermDetector::held_size() const {
  return ring_.held_size() + ring_ends_.held_size() + states_.held_size();
}

std::size_t ShortTermDetector::kept_size() const {
  return ring_.kept_size() + ring_ends_.kept_size() + states_.kept_size();
}

void ShortTermDetector::evaluate(Time window_end,
                                 const ClosedWindow& window,
                                 std::vector<ShortTermResult>& results) {
  const std::size_t rows = window.pairs.size();
  results.assign(rows, ShortTermResult{});
  queries_.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const PairId pair = window.pairs[row];
    BONESCAN_DCHECK(states_.contains(pair));
    queries_[row] = stored_features(window.features_us[row]);
    results[row].pair = pair;
    forget_old(window_end, pair);
    compare_levels(queries_[row], results[row]);
    const PairState& state = states_[pair];
    if (state.count > options_.neighbours && (paper_ || scale_.trusted(state.pair_class))) {
      stage(row, pair);
      if (batches_[state.count].filled == kLofLanes) {
        flush(batches_[state.count], state.count, results);
      }
    }
  }
  for (std::size_t count = 0; count < batches_.size(); ++count) {
    if (batches_[count].filled != 0) {
      flush(batches_[count], count, results);
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    settle(window_end, row, results[row]);
  }
  scale_.close_window();
}

// Rounded to what the history stores, or equal windows would not be at distance zero.
ShortTermDetector::StoredFeatures ShortTermDetector::stored_features(
    const FeatureVector& features_us) const {
  FeatureVector values =
      paper_ ? features_us
             : log_features(features_us, seconds(options_.feature_floor) * kMicrosecondsPerSecond);
  if (options_.features == FeatureChoice::kMedian) {
    values.fill(values[kP50]);
  }
  StoredFeatures stored{};
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    stored[f] = static_cast<float>(values[f]);
  }
  return stored;
}

// Oldest first, so that sums do not depend on where the ring happens to start.
std::span<const ShortTermDetector::StoredFeatures> ShortTermDetector::remembered(PairId pair) {
  const PairState& state = states_[pair];
  const StoredFeatures* ring = &ring_[pair];
  std::size_t position = (state.next + history_ - state.count) % history_;
  for (std::size_t i = 0; i < state.count; ++i) {
    chronological_[i] = ring[position];
    position = position + 1 == history_ ? 0 : position + 1;
  }
  return std::span(chronological_).first(state.count);
}

// A frozen history does not age: its pair would otherwise become unknown while its fault lasts.
void ShortTermDetector::forget_old(Time window_end, PairId pair) {
  PairState& state = states_[pair];
  const Time reference = state.anomalous_run != 0 ? state.frozen_at : window_end;
  const Time* ends = &ring_ends_[pair];
  while (state.count > 0 &&
         reference - ends[(state.next + history_ - state.count) % history_] > history_age_) {
    --state.count;
  }
}

void ShortTermDetector::compare_levels(const StoredFeatures& query, ShortTermResult& result) {
  const std::span<const StoredFeatures> history = remembered(result.pair);
  if (history.empty()) {
    return;
  }
  const double median = median_of(history, kP50);
  const double minimum = median_of(history, kMin);
  if (paper_) {
    result.factor = static_cast<float>(query[kP50] / median);
    result.minimum_factor = static_cast<float>(query[kMin] / minimum);
  } else {
    result.factor = static_cast<float>(std::exp(query[kP50] - median));
    result.minimum_factor = static_cast<float>(std::exp(query[kMin] - minimum));
  }
}

// REQUIRES: compare_levels was called for this row, so chronological_ holds its history.
void ShortTermDetector::stage(std::size_t row, PairId pair) {
  const PairState& state = states_[pair];
  Batch& batch = batches_[state.count];
  const std::size_t lane = batch.filled++;
  batch.rows[lane] = static_cast<std::uint32_t>(row);
  FeatureVector units;
  units.fill(1.0);
  if (!paper_) {
    units = scale_.sd(state.pair_class);
  }
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    const double per_unit = 1.0 / units[f];
    batch.block.query[f][lane] = queries_[row][f] * per_unit;
    for (std::size_t w = 0; w < state.count; ++w) {
      batch.block.history[w][f][lane] = chronological_[w][f] * per_unit;
    }
  }
}

void ShortTermDetector::flush(Batch& batch,
                              std::size_t history_count,
                              std::span<ShortTermResult> results) const {
  const LofOptions lof{.neighbours = options_.neighbours,
                       .distance_floor = paper_ ? 0.0 : options_.distance_floor};
  const LofLanes factors = local_outlier_factors(batch.block, history_count, lof, kernel_);
  for (std::size_t lane = 0; lane < batch.filled; ++lane) {
    if (std::isfinite(factors[lane])) {
      ShortTermResult& result = results[batch.rows[lane]];
      result.lof = static_cast<float>(factors[lane]);
      result.kind = judge(result);
    }
  }
  batch.filled = 0;
}

VerdictKind ShortTermDetector::judge(const ShortTermResult& result) const {
  const bool anomalous =
      paper_ ? result.lof > static_cast<float>(kPaperLofThreshold)
             : result.lof > static_cast<float>(options_.threshold) &&
                   result.minimum_factor >= static_cast<float>(options_.minimum_factor);
  return anomalous ? VerdictKind::kAnomalous : VerdictKind::kHealthy;
}

void ShortTermDetector::settle(Time window_end, std::size_t row, const ShortTermResult& result) {
  const StoredFeatures& query = queries_[row];
  if (paper_) {
    remember(window_end, result.pair, query);
    return;
  }
  PairState& state = states_[result.pair];
  if (result.kind != VerdictKind::kAnomalous) {
    contribute(query, result);
    thaw(window_end, result.pair);
    remember(window_end, result.pair, query);
    return;
  }
  if (state.anomalous_run == 0) {
    state.frozen_at = window_end;
  }
  if (++state.anomalous_run == kFreezeWindows) {
    state.anomalous_run = 0;
    state.count = 0;
    remember(window_end, result.pair, query);
  }
}

void ShortTermDetector::contribute(const StoredFeatures& query, const ShortTermResult& result) {
  const PairState& state = states_[result.pair];
  if (state.count < kLeastContributingHistory) {
    return;
  }
  // Before there is a scale nobody can be judged; a window that moved as a whole is not healthy.
  if (!scale_.trusted(state.pair_class) &&
      result.minimum_factor >= static_cast<float>(options_.minimum_factor)) {
    return;
  }
  FeatureVector sums{};
  for (const StoredFeatures& window : remembered(result.pair)) {
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      sums[f] += window[f];
    }
  }
  FeatureVector deviation;
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    deviation[f] = query[f] - sums[f] / static_cast<double>(state.count);
  }
  scale_.contribute(state.pair_class, deviation, state.count);
}

void ShortTermDetector::remember(Time window_end, PairId pair, const StoredFeatures& query) {
  PairState& state = states_[pair];
  (&ring_[pair])[state.next] = query;
  (&ring_ends_[pair])[state.next] = window_end;
  state.next = static_cast<std::uint8_t>((state.next + std::size_t{1}) % history_);
  state.count = static_cast<std::uint8_t>(std::min(state.count + std::size_t{1}, history_));
}

// The time a history was frozen does not count for its age: after the repair the pair is compared
// with what it was before the fault.
void ShortTermDetector::thaw(Time window_end, PairId pair) {
  PairState& state = states_[pair];
  if (state.anomalous_run == 0) {
    return;
  }
  state.anomalous_run = 0;
  Time* const ends = &ring_ends_[pair];
  for (std::size_t i = 0; i < history_; ++i) {
    ends[i] += window_end - state.frozen_at;
  }
}

}  // namespace bonescan
