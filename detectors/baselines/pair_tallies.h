// What the published threshold rules count: probes of a pair in a tumbling window that were
// answered, that were lost, and that were answered too late.
//
// Intuition: "the 99th percentile is above T" says that more than one answer in a hundred took
// longer than T, so counting the late ones replaces a histogram.
// Invariants: 1. local errors count nowhere; 2. the order of add() calls changes nothing; 3.
// nothing is allocated once every pair has been added.  Thread-compatible.
#pragma once

#include "detectors/detect/detector.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bonescan {

struct PairTally {
  std::uint32_t answered = 0;
  std::uint32_t lost = 0;
  std::uint32_t late = 0;  ///< of the answered

  std::uint32_t tried() const { return answered + lost; }

  /// REQUIRES: tried() > 0.
  double loss_ratio() const { return static_cast<double>(lost) / static_cast<double>(tried()); }

  /// Is the given quantile of the answers above the limit that `late` was counted with?
  bool quantile_is_late(double quantile) const {
    return static_cast<double>(late) > (1.0 - quantile) * static_cast<double>(answered);
  }
};

/// The rows of one visit.  The first one of a cold visit counts for loss only.
PairTally tally_of(const ObservedVisit& visit, Duration late_above);

class PairTallies final {
 public:
  explicit PairTallies(Duration late_above) : late_above_(late_above) {}

  void resize(std::size_t pairs);

  /// What the visit added.
  PairTally add(const ObservedVisit& visit);

  const PairTally& operator[](PairId pair) const { return tallies_[pair.index()]; }

  /// Pairs with a probe in this window, ascending.
  const std::vector<PairId>& touched();

  void clear();
  void release(PairRange pairs);

 private:
  Duration late_above_;
  std::vector<PairTally> tallies_;  ///< by pair
  std::vector<PairId> touched_;
};

/// Ends of windows of equal length, from the start of the run.
class TumblingClock final {
 public:
  explicit TumblingClock(Duration length) : length_(length) {}

  /// Has a window ended since the last call that said so?
  bool closes(Time now) {
    const std::int64_t window = now.time_since_epoch() / length_;
    const bool ended = window > window_;
    window_ = window;
    return ended;
  }

 private:
  Duration length_;
  std::int64_t window_ = 0;
};

/// Losing all of at least two probes is unreachable; losing some, or being late, is anomalous.
Verdict verdict_of(Time now, PairId pair, const PairTally& tally, bool losing);

}  // namespace bonescan
