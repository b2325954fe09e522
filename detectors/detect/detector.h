// What every detector is to the rest: visits in, verdicts about pairs out.
//
// Intuition: "is something wrong with this pair?" has many answers, published ones and ours.  They
// are compared in one world only if they hear the same visits in the same order and speak one
// language, so all of them, a stranger's too, implement this interface.  A detector knows no clock,
// no simulator and no truth.
//
// Invariants, which tests/conformance asks of every implementation:
// 1. order-free: visits of one call may stand in any order without changing a verdict;
// 2. batch = one by one: how the visits of one turn are spread over calls of observe() changes
//    nothing;
// 3. missing is not healthy: a pair that nobody visited, or whose visits hold no answered and no
//    lost probe, gets no verdict, or kInsufficientData;
// 4. monotone: more loss, or a longer delay, of the same visits never turns an accused pair into a
//    healthy one;
// 5. nothing is allocated once every pair has been seen and buffers have grown;
// 6. equal calls give equal verdicts, to the bit.
// Thread-compatible.
#pragma once

#include "detectors/records/verdict.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"
#include "sim/base/units.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bonescan {

/// One complete visit, with what is known of it beside its probes.
struct ObservedVisit {
  PairId pair;
  Time start;
  bool cold = false;  ///< its first probe met an evicted megaflow: it counts for loss only
  std::span<const std::uint32_t> rtts_ns;  ///< RTT or outcome, in send order (probe.h)
  const TracedPath* path = nullptr;        ///< nullptr: not traced
};

class Detector {
 public:
  virtual ~Detector() = default;

  /// As in tables and on the command line: "bonescan-shift", "pingmesh".
  virtual std::string_view name() const = 0;

  /// Pairs [0, pairs) exist from now on; what is known of earlier ones is kept.
  virtual void resize(std::size_t pairs) = 0;

  /// Pairs that should behave alike: same path length, rail, load.  The default is class 0.
  virtual void set_class(PairId pair, std::uint8_t pair_class) = 0;

  /// Visits of one turn; `now` is when they are complete, and never goes back.
  /// REQUIRES: every pair lies below resize()'s count.
  virtual void observe(Time now, std::span<const ObservedVisit> visits) = 0;

  /// Appends what can be said since the last call, at most one verdict a pair and rule, ordered by
  /// (pair, rule).  A pair that is not named is healthy or was not judged.
  virtual void evaluate(Time now, std::vector<Verdict>& verdicts) = 0;

  /// Nothing more is heard of these pairs.
  virtual void release(PairRange pairs) = 0;
};

}  // namespace bonescan
