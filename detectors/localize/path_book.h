// The traced path of every pair that was visited.
//
// Each agent traces a pair when it first visits it, so that a later loss meets known paths: healthy
// paths are evidence too.  A failing pair is traced anew before anything is blamed, since routing
// may have moved.  Invariant: a path, once known, is replaced but never dropped before
// its pair is released.
#pragma once

#include "detectors/telemetry/telemetry.h"
#include "sim/base/paged_column.h"
#include "sim/base/prefetch.h"

#include <utility>

namespace bonescan {

class PathBook final {
 public:
  explicit PathBook(PathTracer& tracer) : tracer_(&tracer) {}

  /// The path, traced on first use; nullptr while the tracer has no answer.
  const TracedPath* path(PairId pair, const FlowKey& flow, Time now) {
    Entry& entry = entries_.at(pair);
    return entry.known ? &entry.path : retrace(pair, flow, now);
  }

  /// The path as last traced; nullptr if never.
  const TracedPath* known(PairId pair) const {
    const Entry* entry = entries_.find(pair);
    return entry != nullptr && entry->known ? &entry->path : nullptr;
  }

  /// Asks for what path() will read, in this order and some pairs apart.
  [[gnu::always_inline]] void prefetch_entry(PairId pair) const { prefetch_row(entries_, pair); }

  [[gnu::always_inline]] void prefetch_hops(PairId pair) const {
    if (const TracedPath* path = known(pair)) {
      __builtin_prefetch(path->request.data());
      __builtin_prefetch(path->answer.data());
    }
  }

  /// Traces again; keeps the old path if the tracer has no answer.
  const TracedPath* retrace(PairId pair, const FlowKey& flow, Time now) {
    Entry& entry = entries_.at(pair);
    if (auto traced = tracer_->trace(flow, now)) {
      entry.path = std::move(*traced);
      entry.known = true;
    }
    return entry.known ? &entry.path : nullptr;
  }

  /// Forgets the paths of pairs that are never visited again.
  void release(PairRange pairs) { entries_.release(pairs.first, pairs.count); }

  /// Bytes that go with pairs, without the hops, and bytes that stay.
  std::size_t held_size() const { return entries_.held_size(); }

  std::size_t kept_size() const { return entries_.kept_size(); }

 private:
  struct Entry {
    TracedPath path;
    bool known = false;
  };

  PathTracer* tracer_;
  PagedColumn<PairId, Entry> entries_;
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
