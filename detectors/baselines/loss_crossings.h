// Which links the losing pairs of a window share: the count behind every published vote.
//
// Invariants: 1. a pair counts once a link, whatever it lost and in whichever way it crosses;
// 2. order of add() calls changes nothing.  Thread-compatible.
#pragma once

#include "detectors/telemetry/component.h"
#include "detectors/telemetry/endpoint.h"
#include "detectors/telemetry/inspection.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace bonescan {

class LossCrossings final {
 public:
  void add(PairId pair, const TracedPath& path);
  void release(PairRange pairs);
  void clear() { crossings_.clear(); }

  /// Pairs that cross a link on which at least `least` of them lie, ascending; valid until the next
  /// call.
  const std::vector<PairId>& sharing(std::size_t least);

 private:
  std::vector<std::pair<ComponentId, PairId>> crossings_;
  std::vector<PairId> sharing_;
};

}  // namespace bonescan
