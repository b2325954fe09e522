#include "detectors/shortterm/short_term_detector.h"

#include "detectors/shortterm/sorting_network.h"
#include "sim/base/check.h"
#include "sim/base/prefetch.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bonescan {
namespace {

// A mean of fewer windows says little about a pair's level.
constexpr std::size_t kLeastContributingHistory = 2;

constexpr double kMicrosecondsPerSecond = 1e6;

struct Medians {
  double median = 0.0;   ///< of the windows' medians
  double minimum = 0.0;  ///< of their minima
};

/// The first features of some windows: P25, the median, P75, the minimum.
using FeatureRows = std::array<FourFloats, kNetworkRows>;
static_assert(kMaxHistory == kNetworkRows && kP50 < 4 && kMin < 4);

// Of the first `count` rows; reorders them.  REQUIRES: count >= 1.
Medians medians_of(FeatureRows& rows, std::size_t count) {
  fill_rest<float>(rows, count);
  sort_rows(rows);
  const FourFloats low = rows[kNetworkRows / 2 - 1];
  const FourFloats high = count % 2 == 0 ? rows[kNetworkRows / 2] : low;
  const auto middle = [&](Feature feature) {
    return (static_cast<double>(low[feature]) + static_cast<double>(high[feature])) / 2.0;
  };
  return {middle(kP50), middle(kMin)};
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
  sums_.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const PairId pair = window.pairs[row];
    if (row + kPrefetchAhead < rows) {
      const PairId later = window.pairs[row + kPrefetchAhead];
      prefetch_row(states_, later);
      prefetch_row(ring_ends_, later, history_);
      prefetch_row(ring_, later, history_);
    }
    BONESCAN_DCHECK(states_.contains(pair));
    queries_[row] = stored_features(window.features_us[row]);
    results[row].pair = pair;
    forget_old(window_end, pair);
    compare_levels(row, results[row]);
    const PairState& state = states_[pair];
    if (state.count > options_.neighbours && (paper_ || scale_.trusted(state.pair_class))) {
      if (!paper_ && !all_factors_ && !minimum_rose(results[row])) {
        results[row].kind = VerdictKind::kHealthy;
        continue;
      }
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
    // The state first, since it says where in the history the window goes.
    if (row + 2 * kPrefetchAhead < rows) {
      prefetch_row(states_, window.pairs[row + 2 * kPrefetchAhead]);
    }
    if (row + kPrefetchAhead < rows) {
      const PairId later = window.pairs[row + kPrefetchAhead];
      const std::size_t next = states_[later].next;
      prefetch(&ring_[later] + next, sizeof(StoredFeatures));
      prefetch(&ring_ends_[later] + next, sizeof(Time));
    }
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
  const std::size_t first = oldest(state);
  const std::size_t to_end = std::min<std::size_t>(state.count, history_ - first);
  const auto rest = std::copy_n(ring + first, to_end, chronological_.begin());
  std::copy_n(ring, state.count - to_end, rest);
  return std::span(chronological_).first(state.count);
}

// A frozen history does not age: its pair would otherwise become unknown while its fault lasts.
void ShortTermDetector::forget_old(Time window_end, PairId pair) {
  PairState& state = states_[pair];
  const Time reference = state.anomalous_run != 0 ? state.frozen_at : window_end;
  const Time* ends = &ring_ends_[pair];
  while (state.count > 0 && reference - ends[oldest(state)] > history_age_) {
    --state.count;
  }
}

void ShortTermDetector::compare_levels(std::size_t row, ShortTermResult& result) {
  const StoredFeatures& query = queries_[row];
  const PairState& state = states_[result.pair];
  if (state.count == 0) {
    return;
  }
  const StoredFeatures* const ring = &ring_[result.pair];
  FeatureVector& sums = sums_[row];
  sums = {};
  FeatureRows rows;  // NOLINT(cppcoreguidelines-pro-type-member-init): the first are filled at once
  std::size_t position = oldest(state);
  for (std::size_t i = 0; i < state.count; ++i) {
    const StoredFeatures& window = ring[position];
    std::memcpy(&rows[i], window.data(), sizeof(rows[i]));
    for (std::size_t f = 0; f < kFeatureCount; ++f) {
      sums[f] += static_cast<double>(window[f]);
    }
    position = position + 1 == history_ ? 0 : position + 1;
  }
  const auto [median, minimum] = medians_of(rows, state.count);
  if (paper_) {
    result.factor = static_cast<float>(query[kP50] / median);
    result.minimum_factor = static_cast<float>(query[kMin] / minimum);
  } else {
    result.factor = static_cast<float>(std::exp(query[kP50] - median));
    result.minimum_factor = static_cast<float>(std::exp(query[kMin] - minimum));
  }
}

void ShortTermDetector::stage(std::size_t row, PairId pair) {
  const PairState& state = states_[pair];
  const std::span<const StoredFeatures> history = remembered(pair);
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
      batch.block.history[w][f][lane] = history[w][f] * per_unit;
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
      result.lof > static_cast<float>(options_.threshold) && (paper_ || minimum_rose(result));
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
    contribute(row, result);
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

void ShortTermDetector::contribute(std::size_t row, const ShortTermResult& result) {
  const PairState& state = states_[result.pair];
  if (state.count < kLeastContributingHistory) {
    return;
  }
  // Before there is a scale nobody can be judged; a window that moved as a whole is not healthy.
  if (!scale_.trusted(state.pair_class) &&
      result.minimum_factor >= static_cast<float>(options_.minimum_factor)) {
    return;
  }
  FeatureVector deviation;
  for (std::size_t f = 0; f < kFeatureCount; ++f) {
    deviation[f] = queries_[row][f] - sums_[row][f] / static_cast<double>(state.count);
  }
  scale_.contribute(state.pair_class, deviation, state.count);
}

void ShortTermDetector::remember(Time window_end, PairId pair, const StoredFeatures& query) {
  PairState& state = states_[pair];
  (&ring_[pair])[state.next] = query;
  (&ring_ends_[pair])[state.next] = window_end;
  const std::size_t next = state.next + std::size_t{1};
  state.next = static_cast<std::uint8_t>(next == history_ ? 0 : next);
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
