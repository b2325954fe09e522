// "Is this pair's newest window like its own recent past?", for all pairs of a closed window.
//
// Intuition: each pair remembers its last ten windows.  The newest one is compared with them by its
// local outlier factor, on logarithms of the features in units of what healthy pairs of the same
// class usually move.  A pair that is found anomalous stops learning, or it would call the fault
// normal after k windows.
//
// The bonescan configuration says anomalous iff LOF > threshold AND the window's minimum exceeds
// the history's median minimum by `minimum_factor`.  Queueing leaves the minimum near its base,
// since some probe of a window always finds the queue short; a slow path (a flow that is not
// offloaded, a detour) moves the whole distribution.  Only increases count. The paper configuration
// is the naive reading: raw features in us, a constant threshold, no scale, no floor, every window
// enters the history.
//
// Invariants: 1. a pair without neighbours + 1 remembered windows, or whose class has no trusted
// scale yet, is kInsufficientData; 2. results depend on the order of windows only, never on the
// machine's vector width; 3. no allocation once buffers have grown.
// A pair costs 376 bytes for a history of ten until it is dropped.  Thread-compatible.
#pragma once

#include "detectors/pipeline/pipeline_options.h"
#include "detectors/records/verdict.h"
#include "detectors/shortterm/lof_batch.h"
#include "detectors/shortterm/pooled_scale.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/window/window_store.h"
#include "sim/base/paged_column.h"
#include "sim/base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

/// Threshold of the paper configuration; the paper gives none.  @ours
constexpr double kPaperLofThreshold = 1.5;

/// Consecutive anomalous windows after which a pair learns anew from the level it is at.  @ours
constexpr std::uint8_t kFreezeWindows = 20;

struct ShortTermResult {
  PairId pair;
  VerdictKind kind = VerdictKind::kInsufficientData;
  float lof = 0.0F;     ///< 0 where there is insufficient data, or the minimum settles it
  float factor = 1.0F;  ///< median over the history's median of medians; 1 without a history
  float minimum_factor = 1.0F;  ///< minimum over the history's median minimum; 1 without a history
};

class ShortTermDetector final {
 public:
  /// REQUIRES: 1 <= neighbours < window.history <= kMaxHistory.
  ShortTermDetector(const WindowOptions& window,
                    const ShortTermOptions& options,
                    DetectionConfiguration configuration);

  /// Nothing can be said about pairs of a class that it does not trust.
  const PooledScale& scale() const { return scale_; }

  /// Makes room for pairs [0, pairs); what is known of earlier ones is kept.
  void resize(std::size_t pairs);
  /// Pairs that share a spread: same path length, rail, load.  The default is class 0.
  void set_class(PairId pair, std::uint8_t pair_class);
  /// Older windows are not used.  The default is WindowOptions::history_age.
  void set_history_age(Duration age) { history_age_ = age; }
  /// Also those factors that cannot change a verdict, since the minimum did not rise enough: for
  /// who studies the factor by itself.  Nearly all windows of a healthy network are such.
  void want_all_factors() { all_factors_ = true; }
  /// Ends a freeze: the pair's history ages as usual again, so that a pair that was frozen for
  /// longer than the history's age learns anew from its next window.
  void release(PairId pair);
  /// Forgets pairs of which no window comes any more.
  void drop(PairRange pairs);

  /// Bytes that go with pairs, and bytes that stay.
  std::size_t held_size() const;
  std::size_t kept_size() const;

  /// One result per row of `window`, in its order; replaces `results`.
  /// REQUIRES: ascending pairs below resize()'s count, finite features, window_end never goes back.
  void evaluate(Time window_end, const ClosedWindow& window, std::vector<ShortTermResult>& results);

 private:
  using StoredFeatures = std::array<float, kFeatureCount>;

  struct PairState {
    Time frozen_at;          ///< end of the first anomalous window in a row
    std::uint8_t count = 0;  ///< remembered windows
    std::uint8_t next = 0;   ///< ring position of the next one
    std::uint8_t pair_class = 0;
    std::uint8_t anomalous_run = 0;  ///< frozen while it is not 0
  };

  /// Pairs with equally long histories wait here until a vector is full.
  struct Batch {
    LofBlock block;
    std::array<std::uint32_t, kLofLanes> rows{};
    std::size_t filled = 0;
  };

  StoredFeatures stored_features(const FeatureVector& features_us) const;
  /// Where the oldest remembered window lies.
  std::size_t oldest(const PairState& state) const {
    const std::size_t place = state.next + history_ - state.count;
    return place < history_ ? place : place - history_;
  }

  std::span<const StoredFeatures> remembered(PairId pair);
  void forget_old(Time window_end, PairId pair);
  void compare_levels(std::size_t row, ShortTermResult& result);
  void stage(std::size_t row, PairId pair);
  void flush(Batch& batch, std::size_t history_count, std::span<ShortTermResult> results) const;
  /// Did the minimum rise enough for an anomaly?
  bool minimum_rose(const ShortTermResult& result) const {
    return result.minimum_factor >= static_cast<float>(options_.minimum_factor);
  }

  VerdictKind judge(const ShortTermResult& result) const;
  void settle(Time window_end, std::size_t row, const ShortTermResult& result);
  void contribute(std::size_t row, const ShortTermResult& result);
  void remember(Time window_end, PairId pair, const StoredFeatures& query);
  void thaw(Time window_end, PairId pair);

  std::size_t history_;
  Duration history_age_;
  ShortTermOptions options_;
  bool paper_;
  bool all_factors_ = false;
  LofKernel kernel_;
  PooledScale scale_;
  PagedColumn<PairId, StoredFeatures> ring_;  ///< `history_` entries a pair
  PagedColumn<PairId, Time> ring_ends_;       ///< as many
  PagedColumn<PairId, PairState> states_;
  // Reused between windows.
  std::vector<StoredFeatures> queries_;  ///< by row
  std::vector<FeatureVector> sums_;      ///< of the remembered windows, by row
  std::array<StoredFeatures, kMaxHistory> chronological_{};
  std::vector<Batch> batches_;  ///< by length of history
};

}  // namespace bonescan
