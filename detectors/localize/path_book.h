// The traced path of every pair that was visited.
//
// Each agent traces a pair when it first visits it, so that a later loss meets known paths: healthy
// paths are evidence too.  A failing pair is traced anew before anything is blamed, since routing
// may have moved.  Invariant: a path, once known, is replaced but never dropped.
#pragma once

#include "detectors/telemetry/telemetry.h"

#include <vector>

namespace bonescan {

class PathBook final {
 public:
  explicit PathBook(PathTracer& tracer) : tracer_(&tracer) {}

  /// The path, traced on first use; nullptr while the tracer has no answer.
  const TracedPath* path(PairId pair, const FlowKey& flow, Time now) {
    Entry& entry = at(pair);
    return entry.known ? &entry.path : retrace(pair, flow, now);
  }

  /// The path as last traced; nullptr if never.
  const TracedPath* known(PairId pair) const {
    return pair.index() < entries_.size() && entries_[pair.index()].known
               ? &entries_[pair.index()].path
               : nullptr;
  }

  /// Traces again; keeps the old path if the tracer has no answer.
  const TracedPath* retrace(PairId pair, const FlowKey& flow, Time now) {
    Entry& entry = at(pair);
    if (auto traced = tracer_->trace(flow, now)) {
      entry.path = std::move(*traced);
      entry.known = true;
    }
    return entry.known ? &entry.path : nullptr;
  }

 private:
  struct Entry {
    TracedPath path;
    bool known = false;
  };

  Entry& at(PairId pair) {
    if (pair.index() >= entries_.size()) {
      entries_.resize(pair.index() + 1);
    }
    return entries_[pair.index()];
  }

  PathTracer* tracer_;
  std::vector<Entry> entries_;
};

/// Calls `body(hop)` for every link of the round trip.
template <class F>
void for_each_hop(const TracedPath& path, F&& body) {
  for (const PathHop& hop : path.request) {
    body(hop);
  }
  for (const PathHop& hop : path.answer) {
    body(hop);
  }
}

inline bool crosses(const TracedPath& path, ComponentId link) {
  bool found = false;
  for_each_hop(path, [&](const PathHop& hop) { found = found || hop.link == link; });
  return found;
}

}  // namespace bonescan
