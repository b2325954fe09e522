// What recent visits lost, and how long each pair has been silent.
//
// Losses inside one visit come in bursts, so a visit is one piece of evidence: it lost something or
// it did not.  The log keeps the visits of the last pool window; a pair's streak counts lost probes
// in a row across visits, and is what makes it unreachable. Invariants: 1. local errors are neither
// trials nor losses; 2. visits are in the order of delivery. Thread-compatible.
#pragma once

#include "detectors/telemetry/probe.h"
#include "sim/base/paged_column.h"
#include "sim/base/prefetch.h"

#include <cstdint>
#include <deque>

namespace bonescan {

/// Why a lossy visit needs no further explanation.
enum class Attribution : std::uint8_t {
  kNone,      ///< evidence for whoever localizes
  kIncident,  ///< belongs to an open incident
  kExcused,   ///< the far agent was dead or stopping: says nothing about the network
};

struct VisitOutcome {
  PairId pair;
  Time start;
  std::uint16_t source_port = 0;
  std::uint8_t probes = 0;  ///< without local errors
  std::uint8_t lost = 0;
  std::uint32_t longest_run = 0;  ///< lost in a row, with what the pair's visits before it ended on
  Attribution attribution = Attribution::kNone;

  bool lossy() const { return lost > 0; }
};

class VisitLog final {
 public:
  explicit VisitLog(Duration keep) : keep_(keep) {}

  /// Counts a visit; the reference is valid until the next call.
  VisitOutcome& add(const Visit& visit, std::span<const std::uint32_t> rtts);

  /// Asks for what add() will read.
  [[gnu::always_inline]] void prefetch_streak(PairId pair) const { prefetch_row(streaks_, pair); }

  /// Forgets visits that started before `now - keep`.
  void forget(Time now);

  /// Lost probes in a row at the end of the pair's last visit.
  std::uint32_t streak(PairId pair) const { return streaks_.value(pair); }

  void reset_streak(PairId pair) { streaks_.at(pair) = 0; }

  /// Forgets pairs that are never visited again.
  void release(PairRange pairs) { streaks_.release(pairs.first, pairs.count); }

  /// Bytes that go with pairs, without the recent visits, and bytes that stay.
  std::size_t held_size() const { return streaks_.held_size(); }

  std::size_t kept_size() const { return streaks_.kept_size(); }

  std::deque<VisitOutcome>& recent() { return recent_; }

  const std::deque<VisitOutcome>& recent() const { return recent_; }

 private:
  Duration keep_;
  std::deque<VisitOutcome> recent_;
  PagedColumn<PairId, std::uint32_t> streaks_;
};

}  // namespace bonescan
