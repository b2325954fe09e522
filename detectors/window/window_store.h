// The answered RTTs of one tumbling window, for all pairs.
//
// Intuition: visits arrive in time order and mix all pairs; features need the samples of one pair
// side by side.  So samples are appended to one long column, and closing the window is one counting
// sort by pair: count, prefix sum, copy.  Nothing is allocated per pair, and buffers are kept from
// window to window.
// Invariants: 1. lost probes and local errors are never samples; 2. pairs come out ascending, each
// once, only if it has a sample; 3. the order of `add` calls never changes the result.
// Complexity: O(samples + highest pair id) per window.  Thread-compatible.
#pragma once

#include "detectors/telemetry/endpoint.h"
#include "detectors/window/features.h"

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

  /// Replaces `out` with the features of everything added since the last close, and starts anew.
  void close(ClosedWindow& out);

 private:
  struct Run {
    PairId pair;
    std::uint32_t count = 0;
  };

  void group_by_pair();

  std::vector<std::uint32_t> column_;   ///< samples in order of arrival; the first used_ are valid
  std::vector<Run> runs_;               ///< whose they are
  std::vector<std::uint32_t> counts_;   ///< by pair; zero between windows
  std::vector<PairId> present_;         ///< pairs with a sample, ascending once grouped
  std::vector<std::uint32_t> cursors_;  ///< by pair, valid for present pairs: end of its group
  std::vector<std::uint32_t> grouped_;  ///< samples side by side per pair
  std::size_t used_ = 0;
};

}  // namespace bonescan
