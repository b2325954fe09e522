// The answered RTTs of one tumbling window, for all pairs.
//
// Intuition: visits arrive in time order and mix all pairs; features need the samples of one pair
// side by side.  So samples are appended to one long column, and closing the window is one counting
// sort by pair: count, prefix sum, copy.  Buffers are kept from window to window.
// Invariants: 1. lost probes and local errors are never samples; 2. pairs come out ascending, each
// once, only if it has a sample; 3. the order of `add` calls never changes the result.
// Complexity: O(samples + pairs not released) per window.  Thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/window/features.h"
#include "sim/base/paged_column.h"
#include "sim/base/prefetch.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bonescan {

/// One closed window; columns of equal length, one row per pair that had a sample.
struct ClosedWindow {
  std::vector<PairId> pairs;  ///< ascending
  std::vector<FeatureVector> features_us;
  std::vector<std::uint16_t> samples;  ///< answered probes, saturating

  void clear() {
    pairs.clear();
    features_us.clear();
    samples.clear();
  }
};

class WindowStore final {
 public:
  std::size_t sample_count() const { return used_; }

  /// Rows of a probe batch; lost probes and local errors are skipped.  Leave out the first row of a
  /// visit that met a cold flow: it measures the upcall, not the path.
  void add(PairId pair, std::span<const std::uint32_t> rtts_ns);

  /// Asks for what add() will read.
  [[gnu::always_inline]] void prefetch_group(PairId pair) const { prefetch_row(groups_, pair); }

  /// Has any of them a sample since the last close?
  bool holds(PairRange pairs) const;

  /// Forgets pairs of which no sample comes any more.  REQUIRES: !holds(pairs).
  void release(PairRange pairs) { groups_.release(pairs.first, pairs.count); }

  /// Bytes that go with pairs, without samples, and bytes that stay.
  std::size_t held_size() const { return groups_.held_size(); }

  std::size_t kept_size() const { return groups_.kept_size(); }

  /// Replaces `out` with the features of everything added since the last close, and starts anew.
  void close(ClosedWindow& out);

 private:
  struct Run {
    PairId pair;
    std::uint32_t count = 0;
  };

  /// The samples of one pair.
  struct Group {
    std::uint32_t count = 0;  ///< zero between windows
    std::uint32_t end = 0;    ///< in grouped_, valid for present pairs
  };

  void group_by_pair();

  std::vector<std::uint32_t> column_;  ///< samples in order of arrival; the first used_ are valid
  std::vector<Run> runs_;              ///< whose they are
  PagedColumn<PairId, Group> groups_;
  std::vector<PairId> present_;         ///< pairs with a sample, ascending once grouped
  std::vector<std::uint32_t> grouped_;  ///< samples side by side per pair
  std::size_t used_ = 0;
};

}  // namespace bonescan
